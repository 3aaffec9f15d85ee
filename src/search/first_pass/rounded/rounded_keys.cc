#include "search/first_pass/rounded/rounded_keys.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/first_pass/row_sample.h"
#include "support/check.h"
#include "support/parallel.h"

namespace resmem {
namespace {

constexpr int64_t kRowsOfASample = 16;
constexpr float kNowhere = std::numeric_limits<float>::infinity();

int64_t BlocksOf(int64_t rows) {
  return (rows + kRoundedKeys - 1) / kRoundedKeys;
}

}  // namespace

RoundedRows::RoundedRows(int64_t dim, int64_t rows)
    : dim_(dim),
      blocks_(BlocksOf(rows)),
      bound_(RoundingsOfSum(dim)),
      values_(std::make_unique_for_overwrite<Line[]>(
          static_cast<size_t>(blocks_ * RoundedSize(dim) / 32))),
      norms_(static_cast<size_t>(blocks_ * kRoundedKeys)),
      errors_(norms_.size()),
      half_norms_(norms_.size(), kNowhere),
      block_errors_(static_cast<size_t>(blocks_)),
      block_rooms_(block_errors_.size()) {}

void RoundedRows::Fill(int64_t first_block, const float* keys, int64_t count,
                       const KeyGeometry& geometry, const float* half_norms) {
  RESMEM_DCHECK(first_block + BlocksOf(count) <= blocks_);
  for (int64_t begin = 0; begin < count; begin += kRoundedKeys) {
    FillBlock(first_block + begin / kRoundedKeys, keys + begin * dim_,
              std::min(kRoundedKeys, count - begin), geometry.center.data(), half_norms + begin);
  }
}

void RoundedRows::FillBlock(int64_t b, const float* keys, int64_t count, const float* center,
                            const float* half_norms) {
  RoundedNorms norms[kRoundedKeys];
  PackRoundedKeys(keys, count, dim_, center, block(b), norms);
  block_errors_[b] = 0;
  float largest_norm = 0;
  for (int64_t j = 0; j < kRoundedKeys; ++j) {
    const int64_t key = b * kRoundedKeys + j;
    const bool hidden = j >= count || std::isinf(half_norms[j]);
    norms_[key] = hidden ? 0 : norms[j].norm;
    errors_[key] = hidden ? 0 : bound_.Error(norms[j].norm, norms[j].error);
    half_norms_[key] = hidden ? kNowhere : 0.5f * norms[j].norm;
    largest_norm = std::max(largest_norm, norms_[key]);
    block_errors_[b] = std::max(block_errors_[b], errors_[key]);
  }
  block_rooms_[b] = bound_.Room(largest_norm);
}

std::span<const uint16_t> RoundedRows::Values(int64_t first_block, int64_t blocks) const {
  const int64_t begin = std::min(first_block, blocks_);
  const int64_t count = std::min(blocks, blocks_ - begin);
  return {block(begin), static_cast<size_t>(count * RoundedSize(dim_))};
}

RoundedView RoundedRows::View(int64_t first_block, int64_t blocks) const {
  const int64_t first = first_block * kRoundedKeys;
  return {{block(first_block), blocks, half_norms_.data() + first,
           block_errors_.data() + first_block, block_rooms_.data() + first_block},
          norms_.data() + first,
          errors_.data() + first};
}

RoundedRows RoundedSample(const KeyStore& keys, const KeyGeometry& geometry) {
  const int64_t dim = keys.dim();
  const RowSample places(keys.rows(), kRowsOfASample, kRoundedKeys);
  RoundedRows sample(dim, places.count());
  std::vector<float> rows(static_cast<size_t>(kRoundedKeys * dim));
  float half_norms[kRoundedKeys];
  for (int64_t i = 0; i < places.count(); ++i) {
    const int64_t row = places.row(i), j = i % kRoundedKeys;
    float* place = rows.data() + j * dim;
    const float* key = keys.Rows(row, 1, place);
    if (key != place) std::copy_n(key, dim, place);
    half_norms[j] = geometry.half_norms[row];
    if (j + 1 < kRoundedKeys) continue;
    sample.Fill(i / kRoundedKeys, rows.data(), kRoundedKeys, geometry, half_norms);
  }
  return sample;
}

bool RoundedKeys::Apply(const KeyStore& keys) {
  const auto is_float = [](const KeyBlock& block) { return block.type == KeyType::kFloat32; };
  return std::all_of(keys.blocks().begin(), keys.blocks().end(), is_float);
}

int64_t RoundedKeys::Bytes(const KeyStore& keys) {
  constexpr int64_t kOfAValue = sizeof(uint16_t), kOfAKey = 13;
  return BlocksOf(keys.rows()) * (kOfAValue * RoundedSize(keys.dim()) + kOfAKey * kRoundedKeys);
}

RoundedKeys::RoundedKeys(const KeyStore& keys, const KeyGeometry& geometry)
    : rows_(keys.dim(), keys.rows()), sample_(RoundedSample(keys, geometry)) {
  RESMEM_DCHECK(Apply(keys));
  const int64_t grain = (keys.RowsPerPiece() + kRoundedKeys - 1) / kRoundedKeys * kRoundedKeys;
  ParallelFor(0, keys.rows(), grain, [&](int64_t begin, int64_t end, int) {
    // Blocks of keys end anywhere, and rows on both sides of an end must be brought together.
    std::vector<float> scratch(static_cast<size_t>((end - begin) * keys.dim()));
    rows_.Fill(begin / kRoundedKeys, keys.Rows(begin, end - begin, scratch.data()), end - begin,
               geometry, geometry.half_norms.data() + begin);
  });
}

}  // namespace resmem
