#include "search/first_pass/rounded/rounded_scan_kernel.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/amx.h"
#include "kernels/bfloat16.h"
#include "search/first_pass/rounded/rounded_scan_kernel_amx.h"

namespace resmem {
namespace {

constexpr int64_t kPiece = 32;  // coordinates that a tile holds

// Subnormal numbers become zero.
Bfloat16 ToNormalBfloat16(float x) {
  return (std::bit_cast<uint32_t>(x) & 0x7F800000u) == 0 ? Bfloat16{0} : ToBfloat16(x);
}

// Where coordinate i of key `row` stands in its block: tiles of 16 keys and 32 coordinates.
int64_t KeyPlace(int64_t row, int64_t i) {
  return (i / kPiece * kRoundedKeys + row) * kPiece + i % kPiece;
}

// Of a query in its group: tiles of 16 pairs of coordinates and 16 queries.
int64_t QueryPlace(int64_t query, int64_t i) {
  const int64_t tile = i / kPiece * 2 + query / 16;
  return ((tile * 16 + i % kPiece / 2) * 16 + query % 16) * 2 + i % 2;
}

// Rounds vector - center coordinate by coordinate and calls put(i, bits).
template <class Put>
RoundedNorms Round(const float* vector, const float* center, int64_t dim, const Put& put) {
  RoundedNorms sums = {0, 0};
  for (int64_t begin = 0; begin < dim; begin += kPiece) {
    RoundedNorms piece = {0, 0};
    for (int64_t i = begin; i < std::min(dim, begin + kPiece); ++i) {
      const float shifted = vector[i] - center[i];
      const uint16_t bits = ToNormalBfloat16(shifted);
      const float rounded = FromBfloat16(bits);
      put(i, bits);
      piece.norm += rounded * rounded;
      piece.error += (shifted - rounded) * (shifted - rounded);
    }
    sums.norm += piece.norm;
    sums.error += piece.error;
  }
  return sums;
}

float DotPlain(const uint16_t* group, int64_t query, const uint16_t* block, int64_t row,
               int64_t dim) {
  float sum = 0;
  for (int64_t begin = 0; begin < dim; begin += kPiece) {
    float piece = 0;
    for (int64_t i = begin; i < begin + kPiece; ++i) {
      piece += FromBfloat16(group[QueryPlace(query, i)]) * FromBfloat16(block[KeyPlace(row, i)]);
    }
    sum += piece;
  }
  return sum;
}

int64_t ScanBlockPlain(const RoundedGroup& queries, const RoundedBlocks& keys, int64_t b,
                       int64_t dim, CellBelow* out) {
  const uint16_t* block = keys.blocks + b * RoundedSize(dim);
  const float* half_norms = keys.half_norms + b * kRoundedKeys;
  int64_t found = 0;
  for (int64_t row = 0; row < kRoundedKeys; ++row) {
    for (int64_t q = 0; q < kRoundedQueries; ++q) {
      const float radius = queries.reaches[q] + keys.errors[b];
      const float threshold = queries.bases[q] + keys.rooms[b] + 0.5f * radius * radius;
      const float value = half_norms[row] - DotPlain(queries.group, q, block, row, dim);
      out[found] = {value, static_cast<int32_t>(q), static_cast<int32_t>(b * kRoundedKeys + row)};
      if (value <= threshold) ++found;
    }
  }
  return found;
}

}  // namespace

void PackRoundedKeys(const float* keys, int64_t count, int64_t dim, const float* center,
                     uint16_t* block, RoundedNorms* norms) {
#if defined(__x86_64__)
  if (AmxActive()) return PackRoundedKeysAmx(keys, count, dim, center, block, norms);
#endif
  std::fill_n(block, RoundedSize(dim), uint16_t{0});
  for (int64_t row = 0; row < count; ++row) {
    norms[row] = Round(keys + row * dim, center, dim,
                       [&](int64_t i, uint16_t bits) { block[KeyPlace(row, i)] = bits; });
  }
}

RoundedNorms PackRoundedQuery(const float* query, int64_t dim, const float* center, int64_t place,
                              uint16_t* group) {
  return Round(query, center, dim,
               [&](int64_t i, uint16_t bits) { group[QueryPlace(place, i)] = bits; });
}

int64_t ScanRounded(const RoundedGroup& queries, const RoundedBlocks& keys, int64_t dim,
                    CellBelow* out) {
#if defined(__x86_64__)
  if (AmxActive()) return ScanRoundedAmx(queries, keys, dim, out);
#endif
  int64_t found = 0;
  for (int64_t b = 0; b < keys.count; ++b) {
    found += ScanBlockPlain(queries, keys, b, dim, out + found);
  }
  return found;
}

void SmallestRounded(const RoundedGroup& queries, const RoundedBlocks& keys, int64_t dim,
                     int64_t rank, float* smallest) {
#if defined(__x86_64__)
  if (AmxActive()) return SmallestRoundedAmx(queries, keys, dim, rank, smallest);
#endif
  for (int64_t q = 0; q < kRoundedQueries; ++q) {
    float least[kRoundedBuckets];
    std::fill_n(least, kRoundedBuckets, std::numeric_limits<float>::infinity());
    for (int64_t row = 0; row < keys.count * kRoundedKeys; ++row) {
      const uint16_t* block = keys.blocks + row / kRoundedKeys * RoundedSize(dim);
      float& bucket = least[row % kRoundedBuckets];
      bucket = std::min(bucket, keys.half_norms[row] -
                                    DotPlain(queries.group, q, block, row % kRoundedKeys, dim));
    }
    std::nth_element(least, least + rank - 1, least + kRoundedBuckets);
    smallest[q] = least[rank - 1];
  }
}

}  // namespace resmem
