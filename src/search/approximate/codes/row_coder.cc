#include "search/approximate/codes/row_coder.h"

#include <iterator>

#include "kernels/number_codec.h"
#include "search/approximate/codes/coded_vectors.h"
#include "search/approximate/codes/half_bytes.h"
#include "support/check.h"

namespace resmem {

RowCoder::RowCoder(int64_t dim, int code_bits, const PairCodebook* codebook)
    : dim_(dim),
      code_bits_(code_bits),
      codebook_(codebook),
      codes_(static_cast<size_t>(CodeWidth(dim)), code_bits == 4 ? kHalfByteOfZero : int8_t{0}) {
  RESMEM_DCHECK((code_bits == 2) == (codebook != nullptr));
  if (code_bits == 8) {
    stored_.resize(codes_.size());
    return;
  }
  if (code_bits == 4) {
    stored_.resize(static_cast<size_t>(HalfBytes(std::ssize(codes_))));
    return;
  }
  stored_.resize(static_cast<size_t>(WordBytes(CodeWidth(dim))));
  first_.resize(codes_.size() / 2);
  second_.resize(first_.size());
  words_.resize(first_.size());
}

void RowCoder::Code(const float* residual) {
  if (code_bits_ == 8) {
    scale_ = QuantizeInt8(residual, dim_, codes_.data());
    CodesToBytes(codes_.data(), std::ssize(codes_), stored_.data());
  } else if (code_bits_ == 4) {
    scale_ = QuantizeHalfBytes(residual, dim_, codes_.data());
    PackHalfBytes(codes_.data(), std::ssize(codes_), stored_.data());
  } else {
    CodeWords(residual);
  }
}

void RowCoder::CodeWords(const float* residual) {
  const float unit = UnitScale(residual, dim_) * codebook_->codes_a_unit();
  const auto pairs = static_cast<int64_t>(words_.size());
  for (int64_t i = 0; i < dim_; ++i) {
    std::vector<float>& half = i % 8 < 4 ? first_ : second_;
    half[i / 8 * 4 + i % 4] = residual[i] * unit;
  }
  NearestWords(first_.data(), second_.data(), codebook_->values(), pairs, words_.data());
  for (int64_t pair = 0; pair < pairs; pair += 8) {
    for (int64_t j = 0; j < 4; ++j) {
      stored_[pair / 2 + j] = static_cast<uint8_t>(words_[pair + j] | words_[pair + 4 + j] << 4);
    }
  }
  // Of all multiples of these codes the one nearest to the residual.
  double product = 0, square = 0;
  for (int64_t i = 0; i < dim_; ++i) {
    const uint8_t word = words_[i / 8 * 4 + i % 4];
    codes_[i] = static_cast<int8_t>(codebook_->tables()[i * kWords + word] - 128);
    product += static_cast<double>(residual[i]) * codes_[i];
    square += static_cast<double>(codes_[i]) * codes_[i];
  }
  scale_ = unit == 0 || square == 0 ? 0.0f : static_cast<float>(product / square);
}

}  // namespace resmem
