#include "search/first_pass/interleaved/interleaved_keys.h"

#include <algorithm>
#include <limits>

#include "search/first_pass/row_sample.h"
#include "support/check.h"
#include "support/parallel.h"

namespace resmem {
namespace {

// A larger sample guesses better, but is looked at by both halves of a query.
RowSample SampleOf(const KeyStore& keys) {
  return RowSample(keys.rows(), /*share=*/32, kInterleavedRows);
}

}  // namespace

InterleavedBlocks::InterleavedBlocks(int64_t dim, int64_t rows)
    : dim_(dim),
      count_((rows + kInterleavedRows - 1) / kInterleavedRows),
      codes_(std::make_unique_for_overwrite<Line[]>(
          static_cast<size_t>((count_ * bytes_per_block() + 63) / 64))),
      scales_(static_cast<size_t>(count_ * kInterleavedRows)),
      norms_(scales_.size(), std::numeric_limits<float>::infinity()),
      errors_(scales_.size()),
      block_errors_(static_cast<size_t>(count_)) {}

void InterleavedBlocks::Put(int64_t row, const int8_t* codes, const RowCode& code) {
  uint8_t* block = codes_[0].bytes + row / kInterleavedRows * bytes_per_block();
  InterleaveRow(codes, dim_, row % kInterleavedRows, block);
  scales_[row] = code.scale;
  norms_[row] = code.norm;
  errors_[row] = code.error;
}

void InterleavedBlocks::FinishBlock(int64_t b) {
  const auto first = errors_.begin() + b * kInterleavedRows;
  block_errors_[b] = *std::max_element(first, first + kInterleavedRows);
}

InterleavedView InterleavedBlocks::View(int64_t first_block, int64_t blocks) const {
  const int64_t row = first_block * kInterleavedRows;
  return {{codes_[0].bytes + first_block * bytes_per_block(), blocks, scales_.data() + row,
           norms_.data() + row, block_errors_.data() + first_block},
          errors_.data() + row};
}

bool InterleavedKeys::Apply(const KeyStore& keys) {
  const auto is_int8 = [](const KeyBlock& block) { return block.type == KeyType::kInt8; };
  return InterleavedAvailable() &&
         std::none_of(keys.blocks().begin(), keys.blocks().end(), is_int8);
}

InterleavedKeys::InterleavedKeys(const KeyStore& keys, const KeyGeometry& geometry)
    : origin_(geometry.center),
      blocks_(keys.dim(), keys.rows()),
      sample_(keys.dim(), SampleOf(keys).count()) {
  RESMEM_DCHECK(Apply(keys));
  const int64_t dim = keys.dim();
  const int64_t piece = std::max<int64_t>(1, keys.RowsPerPiece() / kInterleavedRows);
  ParallelFor(0, blocks_.count(), piece, [&](int64_t begin, int64_t end, int) {
    const int64_t first = begin * kInterleavedRows;
    const int64_t count = std::min(keys.rows(), end * kInterleavedRows) - first;
    std::vector<float> scratch(static_cast<size_t>(count * dim));
    std::vector<int8_t> codes(static_cast<size_t>(dim));
    const float* rows = keys.Rows(first, count, scratch.data());
    RowEncoder encoder(origin_);
    for (int64_t i = 0; i < count; ++i) {
      const RowCode code = keys.hidden(first + i) ? encoder.Hidden(codes.data())
                                                  : encoder.Encode(rows + i * dim, codes.data());
      blocks_.Put(first + i, codes.data(), code);
    }
    for (int64_t b = begin; b < end; ++b) blocks_.FinishBlock(b);
  });
  const RowSample sample = SampleOf(keys);
  std::vector<float> scratch(static_cast<size_t>(dim));
  std::vector<int8_t> codes(static_cast<size_t>(dim));
  RowEncoder encoder(origin_);
  for (int64_t i = 0; i < sample.count(); ++i) {
    const int64_t row = sample.row(i);
    const float* key = keys.Rows(row, 1, scratch.data());
    sample_.Put(
        i, codes.data(),
        keys.hidden(row) ? encoder.Hidden(codes.data()) : encoder.Encode(key, codes.data()));
  }
  for (int64_t b = 0; b < sample_.count(); ++b) sample_.FinishBlock(b);
}

}  // namespace resmem
