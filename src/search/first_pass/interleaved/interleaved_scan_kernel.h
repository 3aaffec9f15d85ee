// First pass of exact search over 8-bit codes that lie interleaved: sixteen rows side by side in a
// vector, so that no sum has to be gathered across it, and each vector that is loaded serves
// several queries.  For processors that multiply bytes (AVX512-VNNI); the values are those of
// codes/code_scan_kernel.h, bit for bit.
#ifndef RESMEM_SEARCH_FIRST_PASS_INTERLEAVED_INTERLEAVED_SCAN_KERNEL_H_
#define RESMEM_SEARCH_FIRST_PASS_INTERLEAVED_INTERLEAVED_SCAN_KERNEL_H_

#include <cstdint>
#include <span>

#include "search/first_pass/batch_scan_kernel.h"

namespace resmem {

constexpr int64_t kInterleavedRows = 32;    // of a block
constexpr int64_t kInterleavedQueries = 6;  // in one call, at most
constexpr int64_t kInterleavedBuckets = 64;

// Whether the processor and the chosen level have what it takes.
bool InterleavedAvailable();

// Codes of a row, with those that fill it up.
constexpr int64_t InterleavedWidth(int64_t dim) {
  return (dim + 3) / 4 * 4;
}

// Puts the codes of a row into its place in a block of kInterleavedRows * InterleavedWidth() bytes.
void InterleaveRow(const int8_t* codes, int64_t dim, int64_t place, uint8_t* block);

// Blocks one after another; codes on a multiple of 64 bytes.
struct InterleavedRows {
  const uint8_t* codes;
  int64_t blocks;
  const float* scales;  // of each row
  const float* norms;   // of each row; an infinite one is never found
  const float* errors;  // of each block, the largest
};

// Codes that a query is compared by.
struct InterleavedCode {
  int32_t correction;
  float norm;
  float double_scale;
  float reach;
};

// `rough`: the upper halves alone, as codes of their own.  They tell most rows apart with half of
// the products.
struct InterleavedQuery {
  const int8_t* halves;  // 2 * InterleavedWidth(): the upper ones, then the lower ones
  InterleavedCode fine, rough;
};

// Splits a query's codes into `halves`; code = 256 * upper + lower.
struct HalfCorrections {
  int32_t fine, rough;
};
HalfCorrections HalveQuery(const int16_t* codes, int64_t dim, int8_t* halves);

// Writes to `out` (room for queries * rows) each cell whose
//   norm of the query + norm - double_scale * scale * (sum of products of the codes)
// in float is at most (reach + error)^2, by the rough code and by the fine one; the value is that
// of the fine one.  Returns how many.  At most kInterleavedQueries.
int64_t ScanInterleaved(std::span<const InterleavedQuery> queries, const InterleavedRows& rows,
                        int64_t dim, CellBelow* out);

// least[q * kInterleavedBuckets + b]: the smallest value of the rows whose number is b modulo
// kInterleavedBuckets, by fine codes.  Reaches and errors are not looked at.
void LeastInterleaved(std::span<const InterleavedQuery> queries, const InterleavedRows& rows,
                      int64_t dim, float* least);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_INTERLEAVED_INTERLEAVED_SCAN_KERNEL_H_
