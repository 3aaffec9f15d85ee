#include "memory/rows/segment_writer.h"

#include <utility>

#include "kernels/number_codec.h"
#include "memory/residuals/residual.h"

namespace resmem {

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(FileSystem& files,
                                                             const std::string& folder,
                                                             const std::string& name,
                                                             const MemoryDescription& description,
                                                             int64_t rows) {
  SegmentLayout layout(description, rows, ContainerWriter::kAsAppended);
  RESMEM_ASSIGN_OR_RETURN(
      ContainerWriter writer,
      ContainerWriter::Create(files, folder + "/" + name, FileKind::kSegment, layout.sections));
  std::unique_ptr<SegmentWriter> segment(
      new SegmentWriter(description, std::move(layout), name, rows, std::move(writer)));
  if (description.has_sources) {
    RESMEM_RETURN_IF_ERROR(segment->writer_.AppendValues<uint64_t>(segment->layout_.source_offsets,
                                                                   {&segment->source_end_, 1}));
  }
  return segment;
}

SegmentWriter::SegmentWriter(const MemoryDescription& description, SegmentLayout layout,
                             std::string name, int64_t rows, ContainerWriter writer)
    : description_(description),
      layout_(std::move(layout)),
      name_(std::move(name)),
      rows_(rows),
      writer_(std::move(writer)),
      encoder_(description_, layout_) {}

Status SegmentWriter::Add(const Rows& rows, std::span<const uint64_t> ids) {
  RESMEM_RETURN_IF_ERROR(AddKeys(rows.keys));
  RESMEM_RETURN_IF_ERROR(writer_.AppendValues<uint64_t>(layout_.ids, ids));
  if (layout_.labels != SegmentLayout::kAbsent) {
    RESMEM_RETURN_IF_ERROR(writer_.AppendValues<int32_t>(layout_.labels, rows.labels));
  }
  if (layout_.targets != SegmentLayout::kAbsent) {
    RESMEM_RETURN_IF_ERROR(AddMatrix(layout_.targets, rows.targets));
  }
  RESMEM_RETURN_IF_ERROR(AddResiduals(rows));
  return AddSources(rows.sources);
}

Status SegmentWriter::AddMatrix(size_t section, const MatrixView& values) {
  if (values.stride == values.columns) {
    return writer_.AppendValues<float>(
        section, {values.data, static_cast<size_t>(values.rows * values.columns)});
  }
  for (int64_t row = 0; row < values.rows; ++row) {
    RESMEM_RETURN_IF_ERROR(writer_.AppendValues<float>(section, values.row_span(row)));
  }
  return {};
}

Status SegmentWriter::AddKeys(const MatrixView& keys) {
  if (description_.key_type == KeyType::kFloat32) return AddMatrix(layout_.keys, keys);
  const int64_t dim = description_.dim;
  half_key_.resize(static_cast<size_t>(dim));
  int8_key_.resize(static_cast<size_t>(dim));
  for (int64_t row = 0; row < keys.rows; ++row) {
    if (description_.key_type == KeyType::kFloat16) {
      FloatToHalf(keys.row(row), dim, half_key_.data());
      RESMEM_RETURN_IF_ERROR(writer_.AppendValues<uint16_t>(layout_.keys, half_key_));
    } else {
      const float scale = QuantizeInt8(keys.row(row), dim, int8_key_.data());
      RESMEM_RETURN_IF_ERROR(writer_.AppendValues<int8_t>(layout_.keys, int8_key_));
      RESMEM_RETURN_IF_ERROR(writer_.AppendValues<float>(layout_.key_scales, {&scale, 1}));
    }
  }
  return {};
}

Status SegmentWriter::AddResiduals(const Rows& rows) {
  if (layout_.logits != SegmentLayout::kAbsent) return AddMatrix(layout_.logits, rows.logits);
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
