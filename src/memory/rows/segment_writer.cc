#include "memory/rows/segment_writer.h"

#include <utility>

#include "memory/residuals/residual.h"

namespace resmem {

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(
    FileSystem& files, const std::string& folder, const std::string& name,
    const MemoryDescription& description, int64_t rows, std::vector<float> key_center) {
  SegmentLayout layout(
      description, rows,
      {.source_bytes = ContainerWriter::kAsAppended, .entries = ContainerWriter::kAsAppended});
  RESMEM_ASSIGN_OR_RETURN(
      ContainerWriter writer,
      ContainerWriter::Create(files, folder + "/" + name, FileKind::kSegment, layout.sections));
  std::unique_ptr<SegmentWriter> segment(new SegmentWriter(
      description, std::move(layout), name, rows, std::move(writer), std::move(key_center)));
  if (description.has_sources) {
    RESMEM_RETURN_IF_ERROR(segment->writer_.AppendValues<uint64_t>(segment->layout_.source_offsets,
                                                                   {&segment->source_end_, 1}));
  }
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
      encoder_(description_, layout_) {}

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
  return AddSources(rows.sources);
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

Status SegmentWriter::AddSources(std::span<const std::string> sources) {
  for (const std::string& source : sources) {
    source_end_ += source.size();
    RESMEM_RETURN_IF_ERROR(
        writer_.AppendValues<uint64_t>(layout_.source_offsets, {&source_end_, 1}));
    RESMEM_RETURN_IF_ERROR(writer_.AppendValues<char>(layout_.source_bytes, source));
  }
  return {};
}

Result<FileRecord> SegmentWriter::Finish() {
  RESMEM_ASSIGN_OR_RETURN(const ContainerWriter::Finished finished, writer_.Finish());
  return FileRecord{name_, rows_, finished.file_bytes, finished.header_hash};
}

}  // namespace resmem
