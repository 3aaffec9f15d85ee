#include "memory/rows/key_encoder.h"

#include "kernels/number_codec.h"

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

Status KeyEncoder::Append(MatrixView keys, std::span<const float> norms, ContainerWriter* writer) {
  if (norms_ != SegmentLayout::kAbsent) {
    RESMEM_RETURN_IF_ERROR(writer->AppendValues<float>(norms_, norms));
  }
  if (type_ == KeyType::kFloat32) return AppendMatrix(keys_, keys, writer);
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
