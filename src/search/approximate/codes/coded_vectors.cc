#include "search/approximate/codes/coded_vectors.h"

#include <cstring>

#include "kernels/number_codec.h"

namespace resmem {

void CodesToBytes(const int8_t* codes, int64_t count, uint8_t* bytes) {
  for (int64_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(codes[i] + 128);
}

CodedVectors::CodedVectors(int64_t dim, int64_t count)
    : dim_(dim),
      width_(CodeWidth(dim)),
      codes_(static_cast<size_t>((count + kGroupQueries) * width_)),
      scales_(static_cast<size_t>(count)),
      corrections_(static_cast<size_t>(count)) {}

void CodedVectors::Set(int64_t i, const float* vector, const float* center) {
  constexpr int64_t kPiece = 512;
  float piece[kPiece];
  std::vector<float> whole;
  float* shifted = piece;
  if (dim_ > kPiece) {
    whole.resize(static_cast<size_t>(dim_));
    shifted = whole.data();
  }
  for (int64_t j = 0; j < dim_; ++j) shifted[j] = vector[j] - center[j];
  int8_t* codes = codes_.data() + i * width_;
  scales_[static_cast<size_t>(i)] = QuantizeInt8(shifted, dim_, codes);
  int32_t sum = 0;
  for (int64_t j = 0; j < dim_; ++j) sum += codes[j];
  corrections_[static_cast<size_t>(i)] = 128 * sum;
}

float CodedVectors::SquaredNorm(int64_t i) const {
  int32_t sum = 0;
  for (int64_t j = 0; j < dim_; ++j) sum += int32_t{codes(i)[j]} * codes(i)[j];
  return scale(i) * scale(i) * static_cast<float>(sum);
}

void CodedVectors::PutScales(int64_t i, int64_t place, QueryGroup* group) const {
  group->double_scales[place] = 2 * scale(i);
  group->corrections[place] = corrections_[static_cast<size_t>(i)];
}

CodedBlocks::CodedBlocks(int64_t row_bytes, int64_t blocks, uint8_t empty)
    : row_bytes_(row_bytes),
      codes_(static_cast<size_t>(blocks * kBlockRows * row_bytes), empty),
      scales_(static_cast<size_t>(blocks * kBlockRows)),
      norms_(scales_.size()) {}

void CodedBlocks::Set(int64_t slot, const uint8_t* bytes, float scale, float norm) {
  uint8_t* block = codes_.data() + slot / kBlockRows * kBlockRows * row_bytes_;
  for (int64_t i = 0; i < row_bytes_; i += 4) {
    std::memcpy(block + i * kBlockRows + slot % kBlockRows * 4, bytes + i, 4);
  }
  scales_[static_cast<size_t>(slot)] = scale;
  norms_[static_cast<size_t>(slot)] = norm;
}

CodeBlocks CodedBlocks::From(int64_t block) const {
  return {codes_.data() + block * kBlockRows * row_bytes_, scales_.data() + block * kBlockRows,
          norms_.data() + block * kBlockRows};
}

}  // namespace resmem
