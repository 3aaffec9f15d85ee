#include "search/first_pass/codes/key_codes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/number_codec.h"
#include "kernels/squared_distance.h"
#include "search/first_pass/error_bound.h"
#include "support/check.h"
#include "support/parallel.h"

namespace resmem {
namespace {

constexpr int64_t kFewestValues = int64_t{1} << 13;  // fewer stay in the first cache as floats
constexpr int64_t kFewestDim = 32;                   // else a row's 12 bytes of its own weigh

bool IsInt8(const KeyBlock& block) {
  return block.type == KeyType::kInt8;
}

}  // namespace

bool KeyCodes::Apply(const KeyStore& keys, const KeyGeometry& geometry) {
  if (keys.dim() < kFewestDim || LargestQueryCode(keys.dim()) == 0) return false;
  if (keys.rows() < kFewestValues / keys.dim()) return false;
  const auto& blocks = keys.blocks();
  if (std::any_of(blocks.begin(), blocks.end(), IsInt8) &&
      !std::all_of(blocks.begin(), blocks.end(), IsInt8)) {
    return false;
  }
  const std::vector<float> zero(static_cast<size_t>(keys.dim()));
  const double center = SquaredDistance(geometry.center.data(), zero.data(), keys.dim());
  return std::max(geometry.largest_norm, std::sqrt(center)) <= CodeBound::kLargestNorm;
}

int64_t KeyCodes::Bytes(const KeyStore& keys) {
  constexpr int64_t kOfARow = sizeof(RowCode);
  return keys.rows() * (IsInt8(keys.blocks().front()) ? kOfARow : keys.dim() + kOfARow);
}

KeyCodes KeyCodes::Make(const KeyStore& keys, const KeyGeometry& geometry) {
  RESMEM_DCHECK(Apply(keys, geometry));
  KeyCodes codes;
  codes.dim_ = keys.dim();
  codes.scales_.resize(static_cast<size_t>(keys.rows()));
  codes.norms_.resize(codes.scales_.size());
  codes.errors_.resize(codes.scales_.size());
  if (IsInt8(keys.blocks().front())) {
    codes.origin_.resize(static_cast<size_t>(keys.dim()));
    int64_t begin = 0;
    for (const KeyBlock& block : keys.blocks()) {
      if (block.rows == 0) continue;
      codes.runs_.push_back({static_cast<const int8_t*>(block.data), begin});
      std::copy_n(block.scales, block.rows, codes.scales_.begin() + begin);
      begin += block.rows;
    }
  } else {
    codes.origin_ = geometry.center;
    codes.made_.resize(static_cast<size_t>(keys.rows() * keys.dim()));
    codes.runs_.push_back({codes.made_.data(), 0});
  }
  codes.runs_.push_back({nullptr, keys.rows()});
  ParallelFor(0, keys.rows(), keys.RowsPerPiece(),
              [&](int64_t begin, int64_t end, int) { codes.Encode(keys, begin, end - begin); });
  return codes;
}

void RowEncoder::Shift(const float* key) {
  for (size_t i = 0; i < shifted_.size(); ++i) shifted_[i] = key[i] - origin_[i];
}

RowCode RowEncoder::Encode(const float* key, int8_t* codes) {
  Shift(key);
  const float scale = QuantizeInt8(shifted_.data(), static_cast<int64_t>(shifted_.size()), codes);
  return DescribeShifted(codes, scale);
}

RowCode RowEncoder::Describe(const float* key, const int8_t* codes, float scale) {
  Shift(key);
  return DescribeShifted(codes, scale);
}

RowCode RowEncoder::DescribeShifted(const int8_t* codes, float scale) {
  const int64_t dim = static_cast<int64_t>(shifted_.size());
  Int8ToFloat(codes, dim, scale, decoded_.data());
  const double squared = SquaredDistance(decoded_.data(), zero_.data(), dim);
  const double error = std::sqrt(SquaredDistance(shifted_.data(), decoded_.data(), dim));
  return {scale, CodeBound::NormBelow(squared), CodeBound::ErrorAbove(error, std::sqrt(squared))};
}

RowCode RowEncoder::Hidden(int8_t* codes) {
  std::fill_n(codes, origin_.size(), int8_t{0});
  return {0, std::numeric_limits<float>::infinity(), 0};
}

void KeyCodes::Encode(const KeyStore& keys, int64_t begin, int64_t count) {
  std::vector<float> scratch(static_cast<size_t>(count * dim_));
  RowEncoder encoder(origin_);
  const float* key = keys.Rows(begin, count, scratch.data());
  for (int64_t row = begin; row < begin + count; ++row, key += dim_) {
    RowCode code = {0, std::numeric_limits<float>::infinity(), 0};
    if (!keys.hidden(row)) {
      code = made_.empty() ? encoder.Describe(key, Rows(row, 1).coded.codes, scales_[row])
                           : encoder.Encode(key, made_.data() + row * dim_);
    }
    scales_[row] = code.scale;
    norms_[row] = code.norm;
    errors_[row] = code.error;
  }
}

KeyCodes::Piece KeyCodes::Rows(int64_t begin, int64_t count) const {
  const auto next =
      std::upper_bound(runs_.begin(), runs_.end(), begin,
                       [](int64_t row, const Run& candidate) { return row < candidate.begin; });
  const Run& run = *(next - 1);
  return {{run.codes + (begin - run.begin) * dim_, scales_.data() + begin, norms_.data() + begin,
           errors_.data() + begin},
          std::min(count, next->begin - begin)};
}

QueryCode::QueryCode(const float* query, const std::vector<float>& origin)
    : codes_(origin.size()), shifted_(origin.size()) {
  const int64_t dim = static_cast<int64_t>(origin.size());
  const double squared = SquaredDistance(query, origin.data(), dim);
  bounded_ = squared <= CodeBound::kLargestNorm * CodeBound::kLargestNorm;
  if (!bounded_) return;
  std::vector<float> decoded(origin.size());
  const std::vector<float> zero(origin.size());
  float largest = 0;
  for (size_t i = 0; i < origin.size(); ++i) {
    shifted_[i] = query[i] - origin[i];
    largest = std::max(largest, std::abs(shifted_[i]));
  }
  const float largest_code = static_cast<float>(LargestQueryCode(dim));
  scale_ = largest / largest_code;
  if (scale_ < std::numeric_limits<float>::min()) scale_ = 0;
  for (size_t i = 0; i < origin.size() && scale_ > 0; ++i) {
    const float code = std::nearbyint(shifted_[i] / scale_);
    codes_[i] = static_cast<int16_t>(std::clamp(code, -largest_code, largest_code));
    decoded[i] = scale_ * static_cast<float>(codes_[i]);
  }
  const double norm = SquaredDistance(decoded.data(), zero.data(), dim);
  norm_ = CodeBound::NormBelow(norm);
  error_ = CodeBound::ErrorAbove(std::sqrt(SquaredDistance(shifted_.data(), decoded.data(), dim)),
                                 std::sqrt(norm));
}

QueryCode::Rough QueryCode::UpperHalf(const int8_t* upper) const {
  if (256.0 * 2 * scale_ > CodeBound::kLargestDoubleScale) return {0, 0, CodeBound::kFindsAll};
  const int64_t dim = static_cast<int64_t>(codes_.size());
  std::vector<float> decoded(codes_.size());
  const std::vector<float> zero(codes_.size());
  for (size_t i = 0; i < codes_.size(); ++i) {
    decoded[i] = scale_ * static_cast<float>(256 * upper[i]);
  }
  const double norm = SquaredDistance(decoded.data(), zero.data(), dim);
  const double error = std::sqrt(SquaredDistance(shifted_.data(), decoded.data(), dim));
  return {CodeBound::NormBelow(norm), 256 * 2 * scale_,
          CodeBound::ErrorAbove(error, std::sqrt(norm))};
}

}  // namespace resmem
