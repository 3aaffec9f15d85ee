#include "memory/residuals/residual_encoder.h"

#include <algorithm>
#include <cmath>

#include "kernels/number_codec.h"
#include "memory/residuals/packed_residuals.h"
#include "memory/residuals/residual.h"
#include "support/parallel.h"

namespace resmem {

ResidualEncoder::ResidualEncoder(const MemoryDescription& description, const SegmentLayout& layout)
    : layout_(layout),
      description_(description),
      outputs_(description.outputs),
      columns_(description.form == ResidualForm::kSparse ? description.top : description.outputs),
      sparse_(description.form == ResidualForm::kSparse),
      packed_(description.form == ResidualForm::kPacked),
      half_(description.half_residuals),
      scratch_(static_cast<size_t>(ResolveThreads(0))) {}

Status ResidualEncoder::Append(int64_t rows,
                               const std::function<void(int64_t row, float* out)>& residual,
                               ContainerWriter* writer) {
  const int64_t piece = std::clamp<int64_t>((int64_t{1} << 20) / columns_, 1, 4096);
  for (int64_t begin = 0; begin < rows; begin += piece) {
    if (packed_) {
      const int64_t count = std::min(piece, rows - begin);
      RESMEM_RETURN_IF_ERROR(AppendPacked(begin, count, residual, writer));
      continue;
    }
    RESMEM_RETURN_IF_ERROR(AppendPiece(begin, std::min(piece, rows - begin), residual, writer));
  }
  return {};
}

Status ResidualEncoder::CountEntries(int64_t entries, ContainerWriter* writer) {
  const auto count = static_cast<uint8_t>(entries);
  const auto start = static_cast<uint64_t>(packed_entries_);
  if (packed_rows_ % kRowsOfAStart == 0) {
    RESMEM_RETURN_IF_ERROR(writer->AppendValues<uint64_t>(layout_.starts, {&start, 1}));
  }
  ++packed_rows_;
  packed_entries_ += entries;
  return writer->AppendValues<uint8_t>(layout_.counts, {&count, 1});
}

Status ResidualEncoder::AppendPacked(int64_t begin, int64_t rows,
                                     const std::function<void(int64_t row, float* out)>& residual,
                                     ContainerWriter* writer) {
  std::vector<PackedRow> packed(static_cast<size_t>(rows));
  ParallelFor(static_cast<int>(scratch_.size()), rows, 16,
              [&](int64_t from, int64_t to, int worker) {
                std::vector<float>& line = scratch_[static_cast<size_t>(worker)];
                line.resize(static_cast<size_t>(outputs_));
                ResidualPacker packer(description_);
                for (int64_t row = from; row < to; ++row) {
                  PackedRow& one = packed[static_cast<size_t>(row)];
                  residual(begin + row, line.data());
                  packer.Pack(line.data(), &one);
                  if (lost_) one.dropped += lost_(begin + row);
                }
              });
  const auto class_bytes = static_cast<size_t>(PackedClassBytes(outputs_));
  std::vector<std::byte> entries;
  for (const PackedRow& row : packed) {
    mass_.kept += row.kept;
    mass_.dropped += row.dropped;
    RESMEM_RETURN_IF_ERROR(CountEntries(std::ssize(row.classes), writer));
    const auto dropped = static_cast<float>(row.dropped);
    uint16_t half = 0;
    FloatToHalf(&dropped, 1, &half);
    RESMEM_RETURN_IF_ERROR(writer->AppendValues<uint16_t>(layout_.packed_dropped, {&half, 1}));
    for (const uint32_t c : row.classes) {
      const std::span<const std::byte> bytes = std::as_bytes(std::span(&c, 1)).first(class_bytes);
      entries.insert(entries.end(), bytes.begin(), bytes.end());
    }
    const std::span<const std::byte> values = std::as_bytes(std::span(row.values));
    entries.insert(entries.end(), values.begin(), values.end());
  }
  return writer->Append(layout_.entries, entries);
}

Status ResidualEncoder::CopyPacked(const Segment& segment, int64_t begin, int64_t rows,
                                   ContainerWriter* writer) {
  std::vector<std::byte> entries;
  for (int64_t row = begin; row < begin + rows; ++row) {
    segment.RequireResidual(row);
    RESMEM_RETURN_IF_ERROR(CountEntries(segment.packed_count(row), writer));
    const uint16_t dropped = segment.packed_dropped(row);
    RESMEM_RETURN_IF_ERROR(writer->AppendValues<uint16_t>(layout_.packed_dropped, {&dropped, 1}));
    const std::span<const std::byte> bytes = segment.PackedEntries(row);
    entries.insert(entries.end(), bytes.begin(), bytes.end());
  }
  return writer->Append(layout_.entries, entries);
}

Status ResidualEncoder::AppendPiece(int64_t begin, int64_t rows,
                                    const std::function<void(int64_t row, float* out)>& residual,
                                    ContainerWriter* writer) {
  const auto entries = static_cast<size_t>(rows * columns_);
  Buffers& b = buffers_;
  b.values.resize(entries);
  if (sparse_) {
    b.classes.resize(entries);
    b.dropped.resize(static_cast<size_t>(rows));
  }
  ParallelFor(static_cast<int>(scratch_.size()), rows, 16,
              [&](int64_t from, int64_t to, int worker) {
                std::vector<float>& line = scratch_[static_cast<size_t>(worker)];
                line.resize(static_cast<size_t>(outputs_));
                for (int64_t row = from; row < to; ++row) {
                  float* const values = b.values.data() + row * columns_;
                  if (!sparse_) {
                    residual(begin + row, values);
                    continue;
                  }
                  residual(begin + row, line.data());
                  b.dropped[static_cast<size_t>(row)] = static_cast<float>(SelectTop(
                      line.data(), outputs_, columns_, b.classes.data() + row * columns_, values));
                }
              });
  for (const float value : b.values) mass_.kept += std::abs(static_cast<double>(value));
  if (sparse_) {
    for (const float value : b.dropped) mass_.dropped += static_cast<double>(value);
    if (layout_.sections[layout_.top_classes].type == StoredType::kU16) {
      b.narrow_classes.assign(b.classes.begin(), b.classes.end());
      RESMEM_RETURN_IF_ERROR(writer->AppendValues<uint16_t>(layout_.top_classes, b.narrow_classes));
    } else {
      RESMEM_RETURN_IF_ERROR(writer->AppendValues<uint32_t>(layout_.top_classes, b.classes));
    }
    RESMEM_RETURN_IF_ERROR(writer->AppendValues<float>(layout_.dropped, b.dropped));
  }
  const size_t section = sparse_ ? layout_.top_values : layout_.residuals;
  if (!half_) return writer->AppendValues<float>(section, b.values);
  b.halves.resize(entries);
  FloatToHalf(b.values.data(), static_cast<int64_t>(entries), b.halves.data());
  return writer->AppendValues<uint16_t>(section, b.halves);
}

}  // namespace resmem
