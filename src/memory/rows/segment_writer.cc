#include "memory/rows/segment_writer.h"

#include <utility>

#include "memory/residuals/residual.h"

namespace resmem {

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(
    FileSystem& files, const std::string& folder, const std::string& name,
    const MemoryDescription& description, int64_t rows, bool tags, std::vector<float> key_center) {
  SegmentSizes sizes{.source_bytes = ContainerWriter::kAsAppended,
                     .entries = ContainerWriter::kAsAppended};
  if (tags) sizes.tag_bytes = ContainerWriter::kAsAppended;
  SegmentLayout layout(description, rows, sizes);
  RESMEM_ASSIGN_OR_RETURN(
      ContainerWriter writer,
      ContainerWriter::Create(files, folder + "/" + name, FileKind::kSegment, layout.sections));
  std::unique_ptr<SegmentWriter> segment(new SegmentWriter(
      description, std::move(layout), name, rows, std::move(writer), std::move(key_center)));
  RESMEM_RETURN_IF_ERROR(segment->sources_.Begin(&segment->writer_));
  RESMEM_RETURN_IF_ERROR(segment->tags_.Begin(&segment->writer_));
  return segment;
}

SegmentWriter::SegmentWriter(const MemoryDescription& description, SegmentLayout layout,
                             std::string name, int64_t rows, ContainerWriter writer,
                             std::vector<float> key_center)
    : description_(description),
      layout_(std::move(layout)),
      name_(std::move(name)),
      rows_(rows),
      writer_(std::move(writer)),
      keys_(description_, layout_, std::move(key_center)),
      encoder_(description_, layout_),
      sources_(layout_.source_offsets, layout_.source_bytes),
      tags_(layout_.tag_offsets, layout_.tag_bytes) {}

Status SegmentWriter::Add(const Rows& rows, std::span<const uint64_t> ids,
                          std::span<const float> norms) {
  RESMEM_RETURN_IF_ERROR(keys_.Append(rows.keys, norms, &writer_));
  RESMEM_RETURN_IF_ERROR(writer_.AppendValues<uint64_t>(layout_.ids, ids));
  if (layout_.labels != SegmentLayout::kAbsent) {
    RESMEM_RETURN_IF_ERROR(AppendLabels(layout_, rows.labels, &writer_));
  }
  if (layout_.targets != SegmentLayout::kAbsent) {
    RESMEM_RETURN_IF_ERROR(AppendMatrix(layout_.targets, rows.targets, &writer_));
  }
  RESMEM_RETURN_IF_ERROR(AddResiduals(rows));
  for (const std::string& source : rows.sources) {
    RESMEM_RETURN_IF_ERROR(sources_.Append(source, &writer_));
  }
  for (int64_t row = 0; row < rows.count(); ++row) {
    const std::string_view tags =
        rows.tags.empty() ? std::string_view() : rows.tags[static_cast<size_t>(row)];
    RESMEM_RETURN_IF_ERROR(tags_.Append(tags, &writer_));
  }
  return {};
}

Status TextAppender::Begin(ContainerWriter* writer) {
  if (offsets_ == SegmentLayout::kAbsent) return {};
  return writer->AppendValues<uint64_t>(offsets_, {&end_, 1});
}

Status TextAppender::Append(std::string_view text, ContainerWriter* writer) {
  if (offsets_ == SegmentLayout::kAbsent) return {};
  end_ += text.size();
  RESMEM_RETURN_IF_ERROR(writer->AppendValues<uint64_t>(offsets_, {&end_, 1}));
  return writer->AppendValues<char>(bytes_, text);
}

Status AppendLabels(const SegmentLayout& layout, std::span<const int32_t> labels,
                    ContainerWriter* writer) {
  switch (layout.sections[layout.labels].type) {
    case StoredType::kU8:
      return writer->AppendValues<uint8_t>(layout.labels,
                                           std::vector<uint8_t>(labels.begin(), labels.end()));
    case StoredType::kU16:
      return writer->AppendValues<uint16_t>(layout.labels,
                                            std::vector<uint16_t>(labels.begin(), labels.end()));
    default:
      return writer->AppendValues<int32_t>(layout.labels, labels);
  }
}

Status SegmentWriter::AddResiduals(const Rows& rows) {
  if (layout_.logits != SegmentLayout::kAbsent) {
    return AppendMatrix(layout_.logits, rows.logits, &writer_);
  }
  const int64_t outputs = description_.outputs;
  const auto residual = [&](int64_t row, float* out) {
    const float* const base = rows.logits.row(row);
    if (description_.task == Task::kClassification) {
      ClassificationResidual(base, outputs, rows.labels[static_cast<size_t>(row)],
                             description_.parameters.temperature, out);
    } else {
      const float* const target = rows.targets.row(row);
      for (int64_t i = 0; i < outputs; ++i) out[i] = target[i] - base[i];
    }
  };
  return encoder_.Append(rows.count(), residual, &writer_);
}

Result<FileRecord> SegmentWriter::Finish() {
  RESMEM_ASSIGN_OR_RETURN(const ContainerWriter::Finished finished, writer_.Finish());
  return FileRecord{name_, rows_, finished.file_bytes, finished.header_hash};
}

}  // namespace resmem
