// First pass of exact search over 8-bit codes of the keys: a quarter of the bytes of float32.
#ifndef RESMEM_SEARCH_FIRST_PASS_CODES_CODE_SCAN_KERNEL_H_
#define RESMEM_SEARCH_FIRST_PASS_CODES_CODE_SCAN_KERNEL_H_

#include <cstdint>

#include "search/first_pass/row_scan_kernel.h"

namespace resmem {

// A code stands for the vector scale * codes.
struct CodedQuery {
  const int16_t* codes;
  float norm;          // |code|^2
  float double_scale;  // 2 * scale
};
struct CodedRows {
  const int8_t* codes;  // row-major without padding
  const float* scales;
  const float* norms;   // |code|^2; an infinite one is never found
  const float* errors;  // >= 0; added to the reach of the row
};

// The largest code a query may have, so that a sum of `dim` products with codes from -128 to 127
// fits into 32 bits; 0 where there is none that is worth using.
int32_t LargestQueryCode(int64_t dim);

// Writes to `out` (room for `count`) each row whose
//   query.norm + norm - double_scale * scale * (sum of products of the codes)
// in float is at most (reach + error)^2, and returns how many.  The sum of products is exact; the
// rest is rounded: see first_pass/error_bound.h.  (reach + error)^2 must not overflow.
int64_t ScanCodes(const CodedQuery& query, const CodedRows& rows, int64_t count, int64_t dim,
                  float reach, RowBelow* out);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_CODES_CODE_SCAN_KERNEL_H_
