#include "base_model/gemm.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base_model/gemm.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

// A tile of kRows x (kVectors vectors) stays in registers for the whole inner loop.  4 x 2 gives
// eight chains of additions, twice what the latency of 4 needs on a machine that starts one
// product and one sum a cycle, and fits the 16 registers of AVX2.
constexpr int64_t kTileRows = 4;
constexpr int64_t kMaxLanes = HWY_MAX_BYTES / sizeof(float);
constexpr int64_t kInnerPacked = 256;  // 16 KiB of packed columns on the stack

// Writes the tile, or adds the inner indices to what is there if `add`.
template <int kRows, int kVectors>
HWY_INLINE void Tile(int64_t inner, const float* HWY_RESTRICT a, int64_t a_row, int64_t a_column,
                     const float* HWY_RESTRICT b, int64_t b_stride, bool add, float* HWY_RESTRICT c,
                     int64_t c_stride) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = add ? hn::LoadU(d, c + r * c_stride + v * lanes) : hn::Zero(d);
    }
  }
  for (int64_t i = 0; i < inner; ++i) {
    Vector columns[kVectors];
    for (int v = 0; v < kVectors; ++v) columns[v] = hn::LoadU(d, b + i * b_stride + v * lanes);
    for (int r = 0; r < kRows; ++r) {
      const Vector value = hn::Set(d, a[r * a_row + i * a_column]);
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::Add(sums[r][v], hn::Mul(value, columns[v]));
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, c + r * c_stride + v * lanes);
  }
}

// All rows of kVectors vectors of columns.
template <int kVectors>
void Strip(int64_t rows, int64_t inner, StridedMatrix a, const float* b, int64_t b_stride, bool add,
           float* c, int64_t c_stride) {
  int64_t r = 0;
  for (; r + kTileRows <= rows; r += kTileRows) {
    Tile<kTileRows, kVectors>(inner, a.data + r * a.row_stride, a.row_stride, a.column_stride, b,
                              b_stride, add, c + r * c_stride, c_stride);
  }
  for (; r < rows; ++r) {
    Tile<1, kVectors>(inner, a.data + r * a.row_stride, a.row_stride, a.column_stride, b, b_stride,
                      add, c + r * c_stride, c_stride);
  }
}

// The last columns, fewer than a vector: both matrices' parts are copied to where a whole vector
// may be read and written.
void LastColumns(int64_t rows, int64_t columns, int64_t inner, StridedMatrix a, const float* b,
                 int64_t b_stride, float* c, int64_t c_stride) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  float b_packed[kInnerPacked * kMaxLanes];
  float c_packed[kTileRows * kMaxLanes];
  for (int64_t begin = 0; begin < std::max<int64_t>(inner, 1); begin += kInnerPacked) {
    const int64_t count = std::min(kInnerPacked, inner - begin);
    std::fill(b_packed, b_packed + count * lanes, 0.0f);
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(b + (begin + i) * b_stride, columns, b_packed + i * lanes);
    }
    for (int64_t r = 0; r < rows; r += kTileRows) {
      const int64_t tile_rows = std::min(kTileRows, rows - r);
      const StridedMatrix part = {a.data + r * a.row_stride + begin * a.column_stride, a.row_stride,
                                  a.column_stride};
      std::fill(c_packed, c_packed + kTileRows * lanes, 0.0f);
      for (int64_t row = 0; begin > 0 && row < tile_rows; ++row) {
        std::copy_n(c + (r + row) * c_stride, columns, c_packed + row * lanes);
      }
      Strip<1>(tile_rows, count, part, b_packed, lanes, true, c_packed, lanes);
      for (int64_t row = 0; row < tile_rows; ++row) {
        std::copy_n(c_packed + row * lanes, columns, c + (r + row) * c_stride);
      }
    }
  }
}

void MultiplyHere(int64_t rows, int64_t columns, int64_t inner, StridedMatrix a, const float* b,
                  int64_t b_stride, float* c, int64_t c_stride) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t column = 0;
  for (; column + 2 * lanes <= columns; column += 2 * lanes) {
    Strip<2>(rows, inner, a, b + column, b_stride, false, c + column, c_stride);
  }
  for (; column + lanes <= columns; column += lanes) {
    Strip<1>(rows, inner, a, b + column, b_stride, false, c + column, c_stride);
  }
  if (column < columns) {
    LastColumns(rows, columns - column, inner, a, b + column, b_stride, c + column, c_stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(MultiplyHere);

void Multiply(int64_t rows, int64_t columns, int64_t inner, StridedMatrix a, const float* b,
              int64_t b_stride, float* c, int64_t c_stride) {
  RESMEM_DISPATCH(MultiplyHere)(rows, columns, inner, a, b, b_stride, c, c_stride);
}

}  // namespace resmem
#endif  // HWY_ONCE
