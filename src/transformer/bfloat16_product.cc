// Rounding, and the product of transformer/bfloat16.h: by the matrix unit, and by vectors where
// there is none.
#include <algorithm>

#include "kernels/amx.h"
#include "transformer/bfloat16.h"
#include "transformer/bfloat16_pairs.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transformer/bfloat16_product.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kRowsTogether = 4;

void RoundToBfloat16(const float* in, int64_t n, Bfloat16* out) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  const auto half = hn::Set(du, 0x7fff), one = hn::Set(du, 1);
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto bits = hn::BitCast(du, hn::LoadU(d, in + i));
    const auto odd = hn::And(hn::ShiftRight<16>(bits), one);
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, half), odd));
    hn::StoreU(hn::TruncateTo(d16, rounded), d16, out + i);
  }
  for (; i < n; ++i) out[i] = ToBfloat16(in[i]);
}

// Four rows of `a` with the columns of two vectors.  `left`, `right`: the first words of these
// columns; the tiles of one half of a panel follow each other at 1,024 values.
template <class D>
HWY_INLINE void MultiplyColumns(D d, int64_t inner, const Bfloat16* a, int64_t a_stride,
                                const Bfloat16* left, const Bfloat16* right, bool add, float* c,
                                int64_t c_stride) {
  const hn::RebindToUnsigned<D> du;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto upper = hn::Set(du, 0xffff0000u);
  hn::Vec<D> left_sums[kRowsTogether], right_sums[kRowsTogether];
  for (int64_t row = 0; row < kRowsTogether; ++row) {
    left_sums[row] = add ? hn::LoadU(d, c + row * c_stride) : hn::Zero(d);
    right_sums[row] = add ? hn::LoadU(d, c + row * c_stride + lanes) : hn::Zero(d);
  }
  for (int64_t step = 0; step < inner; step += kPanelSide) {
    for (int64_t pair = 0; pair < 16; ++pair) {
      const int64_t place = step * kPanelSide + pair * 32;
      const auto left_words = hn::LoadU(du, reinterpret_cast<const uint32_t*>(left + place));
      const auto right_words = hn::LoadU(du, reinterpret_cast<const uint32_t*>(right + place));
      const auto left_even = hn::BitCast(d, hn::ShiftLeft<16>(left_words));
      const auto left_odd = hn::BitCast(d, hn::And(left_words, upper));
      const auto right_even = hn::BitCast(d, hn::ShiftLeft<16>(right_words));
      const auto right_odd = hn::BitCast(d, hn::And(right_words, upper));
      for (int64_t row = 0; row < kRowsTogether; ++row) {
        uint32_t word;  // two values
        __builtin_memcpy(&word, a + row * a_stride + step + 2 * pair, sizeof word);
        const auto words = hn::Set(du, word);
        const auto even = hn::BitCast(d, hn::ShiftLeft<16>(words));
        const auto odd = hn::BitCast(d, hn::And(words, upper));
        left_sums[row] = hn::MulAdd(even, left_even, left_sums[row]);
        right_sums[row] = hn::MulAdd(even, right_even, right_sums[row]);
        left_sums[row] = hn::MulAdd(odd, left_odd, left_sums[row]);
        right_sums[row] = hn::MulAdd(odd, right_odd, right_sums[row]);
      }
    }
  }
  for (int64_t row = 0; row < kRowsTogether; ++row) {
    hn::StoreU(left_sums[row], d, c + row * c_stride);
    hn::StoreU(right_sums[row], d, c + row * c_stride + lanes);
  }
}

void MultiplyByVectors(int64_t rows, int64_t columns, int64_t inner, const Bfloat16* a,
                       int64_t a_stride, Panels b, bool add, float* c, int64_t c_stride) {
#if HWY_TARGET == HWY_AVX3
  if (PairProductsAvailable()) {
    MultiplyByPairs(rows, columns, inner, a, a_stride, b, add, c, c_stride);
    return;
  }
#endif
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // The words of a column within its panel.
  const auto words = [&](int64_t column) {
    const int64_t within = column % kPanelSide;
    return b.SkipColumns(column - within).data + within / 16 * 512 + within % 16 * 2;
  };
  for (int64_t row = 0; row < rows; row += kRowsTogether) {
    for (int64_t column = 0; column < columns; column += 2 * lanes) {
      MultiplyColumns(d, inner, a + row * a_stride, a_stride, words(column), words(column + lanes),
                      add, c + row * c_stride + column, c_stride);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if defined(__x86_64__)
#include <immintrin.h>
#define RESMEM_TILES __attribute__((target("avx512f,amx-tile,amx-bf16")))
#endif

namespace resmem {

HWY_EXPORT(RoundToBfloat16);
HWY_EXPORT(MultiplyByVectors);

void RoundToBfloat16(const float* in, int64_t n, Bfloat16* out) {
  RESMEM_DISPATCH(RoundToBfloat16)(in, n, out);
}

#if defined(__x86_64__)
namespace {

// So many inner values of 32 rows stay in the first cache.
constexpr int64_t kInnerTogether = 512;
constexpr int kTileBytes = 64;  // of a row

// 32 x 32 values of c in four tiles.
RESMEM_TILES void MultiplyTiles(int64_t inner, const Bfloat16* a, int64_t a_stride,
                                const Bfloat16* b, bool add, float* c, int64_t c_stride) {
  const int64_t a_bytes = a_stride * static_cast<int64_t>(sizeof(Bfloat16));
  const int64_t c_bytes = c_stride * static_cast<int64_t>(sizeof(float));
  float* c_lower = c + 16 * c_stride;
  if (add) {
    _tile_loadd(0, c, c_bytes);
    _tile_loadd(1, c + 16, c_bytes);
    _tile_loadd(2, c_lower, c_bytes);
    _tile_loadd(3, c_lower + 16, c_bytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const Bfloat16* a_lower = a + 16 * a_stride;
  for (int64_t step = 0; step < inner; step += kPanelSide, b += 1024) {
    _tile_loadd(6, b, kTileBytes);
    _tile_loadd(4, a + step, a_bytes);
    _tile_loadd(7, b + 512, kTileBytes);
    _tile_loadd(5, a_lower + step, a_bytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, c_bytes);
  _tile_stored(1, c + 16, c_bytes);
  _tile_stored(2, c_lower, c_bytes);
  _tile_stored(3, c_lower + 16, c_bytes);
}

void MultiplyByTiles(int64_t rows, int64_t columns, int64_t inner, const Bfloat16* a,
                     int64_t a_stride, Panels b, bool add, float* c, int64_t c_stride) {
  const TileScope scope;
  for (int64_t begin = 0; begin < inner; begin += kInnerTogether) {
    const int64_t count = std::min(kInnerTogether, inner - begin);
    for (int64_t row = 0; row < rows; row += kPanelSide) {
      for (int64_t column = 0; column < columns; column += kPanelSide) {
        MultiplyTiles(count, a + row * a_stride + begin, a_stride,
                      b.SkipColumns(column).Skip(begin).data, add || begin > 0,
                      c + row * c_stride + column, c_stride);
      }
    }
  }
}

}  // namespace
#endif

void Multiply(int64_t rows, int64_t columns, int64_t inner, const Bfloat16* a, int64_t a_stride,
              Panels b, bool add, float* c, int64_t c_stride) {
#if defined(__x86_64__)
  if (AmxActive()) {
    MultiplyByTiles(rows, columns, inner, a, a_stride, b, add, c, c_stride);
    return;
  }
#endif
  RESMEM_DISPATCH(MultiplyByVectors)
  (rows, columns, inner, a, a_stride, b, add, c, c_stride);
}

}  // namespace resmem
#endif  // HWY_ONCE
