// Matrix products of 16-bit numbers (kernels/bfloat16.h).
//
// A product takes its left side as rows and its right side in panels: 32 columns together, of
// which 32 inner values at a time lie in two tiles.  A tile has 16 rows of 16 words; the word in
// row r and column c holds the values (2 r, c) and (2 r + 1, c).  That is how the matrix unit
// (kernels/amx.h) reads its right side; other processors read it as well.
//
// All numbers of rows and columns here are multiples of 32 unless said otherwise.  Arrays need no
// alignment.  Rows whose length is a power of two fall onto each other in the processor's cache:
// give them a stride of Bfloat16Stride().
#ifndef RESMEM_TRANSFORMER_BFLOAT16_H_
#define RESMEM_TRANSFORMER_BFLOAT16_H_

#include <cstdint>

#include "kernels/bfloat16.h"

namespace resmem {

inline constexpr int64_t kPanelSide = 32;
inline constexpr int64_t Bfloat16Stride(int64_t columns) {
  return columns + kPanelSide;
}

// out[i] = in[i], to the nearest, ties to even; n is any number.
void RoundToBfloat16(const float* in, int64_t n, Bfloat16* out);

// out (columns x rows) = in (rows x columns), transposed.
void Transpose(const Bfloat16* in, int64_t in_stride, int64_t rows, int64_t columns, Bfloat16* out,
               int64_t out_stride);

// Panels of a right side: panel p begins at p * kPanelSide * inner.
// From rows: inner x columns.
void PanelsFromRows(const Bfloat16* in, int64_t in_stride, int64_t inner, int64_t columns,
                    Bfloat16* panels);
// From the transposed matrix: columns x inner.
void PanelsFromColumns(const Bfloat16* in, int64_t in_stride, int64_t inner, int64_t columns,
                       Bfloat16* panels);

struct Panels {
  const Bfloat16* data;
  int64_t inner;  // of the whole matrix; a product may take the first of them only

  // Without the first `count` inner values.
  Panels Skip(int64_t count) const { return {data + count * kPanelSide, inner}; }
  // From column `count` on.
  Panels SkipColumns(int64_t count) const { return {data + count * inner, inner}; }
};

// c (rows x columns) = a (rows x inner) b, or c += where `add`.  Sums are in float32.  Each value
// depends on its row of `a` and its column of `b` alone; between instruction sets it differs in
// the last bits.
void Multiply(int64_t rows, int64_t columns, int64_t inner, const Bfloat16* a, int64_t a_stride,
              Panels b, bool add, float* c, int64_t c_stride);

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_BFLOAT16_H_
