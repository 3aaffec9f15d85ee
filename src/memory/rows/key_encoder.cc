#include "memory/rows/key_encoder.h"

#include "kernels/int4_keys.h"
#include "kernels/number_codec.h"
#include "search/approximate/codes/half_bytes.h"
#include "support/parallel.h"

namespace resmem {

Status AppendMatrix(size_t section, MatrixView values, ContainerWriter* writer) {
  if (values.stride == values.columns) {
    return writer->AppendValues<float>(
        section, {values.data, static_cast<size_t>(values.rows * values.columns)});
  }
  for (int64_t row = 0; row < values.rows; ++row) {
    RESMEM_RETURN_IF_ERROR(writer->AppendValues<float>(section, values.row_span(row)));
  }
  return {};
}

std::vector<float> MeanOf(MatrixView keys) {
  std::vector<float> mean(static_cast<size_t>(keys.columns));
  for (int64_t i = 0; i < keys.columns; ++i) {
    double sum = 0;
    for (int64_t row = 0; row < keys.rows; ++row) sum += static_cast<double>(keys.row(row)[i]);
    mean[static_cast<size_t>(i)] = static_cast<float>(sum / static_cast<double>(keys.rows));
  }
  return mean;
}

void RoundInt4(std::span<const float> center, std::span<float> key, std::span<int8_t> codes) {
  const int64_t dim = std::ssize(key);
  for (size_t i = 0; i < key.size(); ++i) key[i] -= center[i];
  const float scale = 16 * QuantizeHalfBytes(key.data(), dim, codes.data());
  std::vector<uint8_t> packed(static_cast<size_t>(Int4Bytes(dim)));
  PackInt4(codes.data(), dim, packed.data());
  Int4ToFloat(packed.data(), dim, scale, center.data(), key.data());
}

Status KeyEncoder::WriteCenter(ContainerWriter* writer) {
  if (type_ != KeyType::kInt4 || center_written_) return {};
  center_written_ = true;
  return writer->AppendValues<float>(center_section_, center_);
}

Status KeyEncoder::AppendInt4(MatrixView keys, ContainerWriter* writer) {
  if (keys.rows == 0) return {};
  if (center_.empty()) center_.resize(static_cast<size_t>(keys.columns));
  RESMEM_RETURN_IF_ERROR(WriteCenter(writer));
  const int64_t dim = keys.columns, bytes = Int4Bytes(dim);
  packed_.resize(static_cast<size_t>(keys.rows * bytes));
  std::vector<float> scales(static_cast<size_t>(keys.rows));
  ParallelFor(ResolveThreads(0), keys.rows, 256, [&](int64_t begin, int64_t end, int) {
    std::vector<float> shifted(static_cast<size_t>(dim));
    std::vector<int8_t> codes(shifted.size());
    for (int64_t row = begin; row < end; ++row) {
      for (size_t i = 0; i < shifted.size(); ++i) shifted[i] = keys.row(row)[i] - center_[i];
      // A code is 16 number - 120: a sixteenth of the step.
      scales[static_cast<size_t>(row)] = 16 * QuantizeHalfBytes(shifted.data(), dim, codes.data());
      PackInt4(codes.data(), dim, packed_.data() + row * bytes);
    }
  });
  RESMEM_RETURN_IF_ERROR(writer->AppendValues<uint8_t>(keys_, packed_));
  return writer->AppendValues<float>(scales_, scales);
}

Status KeyEncoder::Append(MatrixView keys, std::span<const float> norms, ContainerWriter* writer) {
  if (norms_ != SegmentLayout::kAbsent) {
    RESMEM_RETURN_IF_ERROR(writer->AppendValues<float>(norms_, norms));
  }
  return AppendKeys(keys, writer);
}

Status KeyEncoder::AppendKeys(MatrixView keys, ContainerWriter* writer) {
  if (type_ == KeyType::kFloat32) return AppendMatrix(keys_, keys, writer);
  if (type_ == KeyType::kInt4) return AppendInt4(keys, writer);
  const int64_t dim = keys.columns;
  half_key_.resize(static_cast<size_t>(dim));
  int8_key_.resize(static_cast<size_t>(dim));
  for (int64_t row = 0; row < keys.rows; ++row) {
    if (type_ == KeyType::kFloat16) {
      FloatToHalf(keys.row(row), dim, half_key_.data());
      RESMEM_RETURN_IF_ERROR(writer->AppendValues<uint16_t>(keys_, half_key_));
    } else {
      const float scale = QuantizeInt8(keys.row(row), dim, int8_key_.data());
      RESMEM_RETURN_IF_ERROR(writer->AppendValues<int8_t>(keys_, int8_key_));
      RESMEM_RETURN_IF_ERROR(writer->AppendValues<float>(scales_, {&scale, 1}));
    }
  }
  return {};
}

}  // namespace resmem
