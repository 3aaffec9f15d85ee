#include "ivf/coded_vectors.h"

#include <cstring>

#include "kernels/number_codec.h"

namespace resmem {

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

CodedBlocks::CodedBlocks(int64_t width, int64_t blocks)
    : width_(width),
      codes_(static_cast<size_t>(blocks * kBlockRows * width), uint8_t{128}),
      scales_(static_cast<size_t>(blocks * kBlockRows)),
      norms_(scales_.size()) {}

void CodedBlocks::Set(int64_t slot, const int8_t* codes, float scale, float norm) {
  uint8_t* block = codes_.data() + slot / kBlockRows * kBlockRows * width_;
  for (int64_t i = 0; i < width_; i += 4) {
    uint32_t four = 0;
    std::memcpy(&four, codes + i, sizeof(four));
    four ^= 0x80808080u;  // plus 128 in each byte
    std::memcpy(block + i * kBlockRows + slot % kBlockRows * 4, &four, sizeof(four));
  }
  scales_[static_cast<size_t>(slot)] = scale;
  norms_[static_cast<size_t>(slot)] = norm;
}

CodeBlocks CodedBlocks::From(int64_t block) const {
  return {codes_.data() + block * kBlockRows * width_, scales_.data() + block * kBlockRows,
          norms_.data() + block * kBlockRows};
}

}  // namespace resmem
