// First pass of exact search for many queries over keys rounded to bfloat16: where the processor
// has tiles (kernels/amx.h), a matrix product of 32 queries and 32 keys at a time with the
// comparison fused in; elsewhere the same in plain loops, which nobody should wait for.
//
//   block  kRoundedKeys keys minus a center, rounded
//   group  kRoundedQueries queries, in the order that tiles want
//
// A bfloat16 is the upper half of a float; subnormal ones are zero here.
#ifndef RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_SCAN_KERNEL_H_
#define RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_SCAN_KERNEL_H_

#include <cstdint>
#include <span>

#include "search/first_pass/batch_scan_kernel.h"

namespace resmem {

constexpr int64_t kRoundedKeys = 32;
constexpr int64_t kRoundedQueries = 32;

// Numbers in a block, and in a group.
constexpr int64_t RoundedSize(int64_t dim) {
  return (dim + 31) / 32 * 32 * 32;
}

// Of a vector v that was rounded to r; summed in float, every term rounded at most
// RoundingsOfSum() times.
struct RoundedNorms {
  float norm;   // |r|^2
  float error;  // |v - r|^2
};

// How often a term of these sums, or of a dot product of ScanRounded(), is rounded at most: once
// for each piece of 32 coordinates, and up to 40 times within its piece and behind the last.
constexpr int64_t RoundingsOfSum(int64_t dim) {
  return (dim + 31) / 32 + 40;
}

// Fills `block` (RoundedSize() numbers; zero beyond `count` keys) and norms[0 .. count).
void PackRoundedKeys(const float* keys, int64_t count, int64_t dim, const float* center,
                     uint16_t* block, RoundedNorms* norms);

// Puts one query into its place in `group`, which must be zero there.
RoundedNorms PackRoundedQuery(const float* query, int64_t dim, const float* center, int64_t place,
                              uint16_t* group);

struct RoundedGroup {
  const uint16_t* group;
  const float* reaches;  // of each query
  const float* bases;
};
// Blocks one after another; for each key a half norm, for each block the largest error and room.
struct RoundedBlocks {
  const uint16_t* blocks;
  int64_t count;
  const float* half_norms;  // an infinite one is never found
  const float* errors;
  const float* rooms;
  std::span<const uint16_t> ahead = {};  // will be read soon: on its way to the cache meanwhile
};

// Writes to `out` (room for kRoundedQueries * kRoundedKeys * blocks.count) each cell whose
//   value = half norm - dot(query, key)   is at most   base + room + (reach + error)^2 / 2
// and returns how many.  Products are exact and their sums rounded: see first_pass/error_bound.h.
int64_t ScanRounded(const RoundedGroup& queries, const RoundedBlocks& keys, int64_t dim,
                    CellBelow* out);

// smallest[q], of each query of the group: a number such that the values of at least `rank` keys
// are not above it, and, where the keys lie in no order, of not many more; infinite where there are
// too few.  It is near the rank-th smallest of the least values of kRoundedBuckets sets of keys;
// key j belongs to set j % kRoundedBuckets.  1 <= rank <= kRoundedBuckets; reaches and bases are
// not looked at.
constexpr int64_t kRoundedBuckets = 128;
void SmallestRounded(const RoundedGroup& queries, const RoundedBlocks& keys, int64_t dim,
                     int64_t rank, float* smallest);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_SCAN_KERNEL_H_
