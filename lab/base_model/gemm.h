// The matrix product of small models.
//
// Each value of the product is one sum, taken in the order of the inner index, every product
// and every sum rounded to float32 (never fused).  So it does not depend on the instruction
// set, nor on which other rows and columns are computed in the same call.
#ifndef RESMEM_LAB_BASE_MODEL_GEMM_H_
#define RESMEM_LAB_BASE_MODEL_GEMM_H_

#include <cstdint>

namespace resmem {

// value(i, j) = data[i * row_stride + j * column_stride]: a transposed matrix is one with the
// strides exchanged.
struct StridedMatrix {
  const float* data;
  int64_t row_stride;
  int64_t column_stride;
};

// c = a b, where c is rows x columns, a is rows x inner and b is inner x columns.  b and c are
// row-major with the strides given; c overlaps neither a nor b.
void Multiply(int64_t rows, int64_t columns, int64_t inner, StridedMatrix a, const float* b,
              int64_t b_stride, float* c, int64_t c_stride);

}  // namespace resmem

#endif  // RESMEM_LAB_BASE_MODEL_GEMM_H_
