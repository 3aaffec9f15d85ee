// First pass of exact search for one query: reads keys as they lie, at memory speed.
#ifndef RESMEM_SEARCH_FIRST_PASS_ROW_SCAN_KERNEL_H_
#define RESMEM_SEARCH_FIRST_PASS_ROW_SCAN_KERNEL_H_

#include <cstdint>

namespace resmem {

struct RowBelow {
  float value;
  int32_t row;
};

// Writes to `out` (room for `rows`) each row of `keys` (row-major, dim values a row) whose sum
// of (query[i] - key[i])^2 in float, in any order, products fused or not, is at most
// `threshold`, and returns how many.  The values differ between instruction sets: see
// first_pass/error_bound.h for what may be concluded from them.
int64_t ScanRows(const float* query, const float* keys, int64_t rows, int64_t dim, float threshold,
                 RowBelow* out);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_ROW_SCAN_KERNEL_H_
