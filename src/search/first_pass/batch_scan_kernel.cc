#include "search/first_pass/batch_scan_kernel.h"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/first_pass/batch_scan_kernel.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using V = hn::Vec<Floats>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));

// Sums stay in registers, beside a vector of each panel column and one broadcast: 32 registers
// with AVX-512 and NEON, 16 before.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kQueries = 8, kVectors = 3;
#elif HWY_TARGET == HWY_AVX2
constexpr int kQueries = 4, kVectors = 3;
#else
constexpr int kQueries = 4, kVectors = 2;
#endif
constexpr int kKeys = kVectors * kLanes;
static_assert(kQueries <= kMaxTileQueries && kQueries * kKeys <= kMaxTileCells);

TileShape ScanTileShape() {
  return {kQueries, kKeys};
}

#if HWY_TARGET == HWY_SCALAR

void PackPanel(const float* keys, int64_t count, int64_t dim, const float* center, float* panel) {
  std::fill_n(panel, dim * kKeys, 0.0f);
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = 0; i < dim; ++i) panel[i * kKeys + j] = keys[j * dim + i] - center[i];
  }
}

#else

// Four coordinates of four keys, transposed.
HWY_INLINE void PackBlock(const float* keys, int64_t dim, const float* center, float* panel) {
  const hn::FixedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto c = hn::LoadU(d, center);
  const auto row0 = hn::Sub(hn::LoadU(d, keys), c);
  const auto row1 = hn::Sub(hn::LoadU(d, keys + dim), c);
  const auto row2 = hn::Sub(hn::LoadU(d, keys + 2 * dim), c);
  const auto row3 = hn::Sub(hn::LoadU(d, keys + 3 * dim), c);
  const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, row2, row3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, low01, low23)), d, panel);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23)), d, panel + kKeys);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, high01, high23)), d, panel + 2 * kKeys);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23)), d, panel + 3 * kKeys);
}

void PackPanel(const float* keys, int64_t count, int64_t dim, const float* center, float* panel) {
  if (count < kKeys) std::fill_n(panel, dim * kKeys, 0.0f);
  const int64_t whole_keys = count / 4 * 4, whole_dim = dim / 4 * 4;
  for (int64_t i = 0; i < whole_dim; i += 4) {
    for (int64_t j = 0; j < whole_keys; j += 4) {
      PackBlock(keys + j * dim + i, dim, center + i, panel + i * kKeys + j);
    }
  }
  for (int64_t j = 0; j < count; ++j) {
    const int64_t begin = j < whole_keys ? whole_dim : 0;
    for (int64_t i = begin; i < dim; ++i) panel[i * kKeys + j] = keys[j * dim + i] - center[i];
  }
}

#endif

// The loops over queries and vectors have constant lengths and must be unrolled, or the sums
// leave the registers.
#define RESMEM_UNROLL _Pragma("GCC unroll 16")

// No struct: g++ would compile its constructor without the instruction set of this file, which
// fails for NEON.
using Sums = V[kQueries][kVectors];

HWY_INLINE void AddProducts(const float* HWY_RESTRICT group, const float* HWY_RESTRICT panel,
                            int64_t dim, Sums& sums) {
  const Floats d;
  RESMEM_UNROLL for (int q = 0; q < kQueries; ++q) {
    RESMEM_UNROLL for (int v = 0; v < kVectors; ++v) sums[q][v] = hn::Zero(d);
  }
  for (int64_t i = 0; i < dim; ++i) {
    V keys[kVectors];
    RESMEM_UNROLL for (int v = 0; v < kVectors; ++v) keys[v] = hn::LoadU(d, panel + v * kLanes);
    RESMEM_UNROLL for (int q = 0; q < kQueries; ++q) {
      const V query = hn::Set(d, group[q]);
      RESMEM_UNROLL for (int v = 0; v < kVectors; ++v) {
        sums[q][v] = hn::MulAdd(query, keys[v], sums[q][v]);
      }
    }
    group += kQueries;
    panel += kKeys;
  }
}

// Appends the lanes of `values` that `below` marks.
HWY_INLINE int64_t Append(V values, hn::Mask<Floats> below, int query, int first_key,
                          CellBelow* out) {
  const Floats d;
  HWY_ALIGN float lanes[kLanes];
  hn::Store(values, d, lanes);
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, below, bytes);
  uint32_t bits = bytes[0] | (static_cast<uint32_t>(bytes[1]) << 8);
  if constexpr (kLanes < 16) bits &= (1u << kLanes) - 1;
  int64_t count = 0;
  for (; bits != 0; bits &= bits - 1) {
    const int lane = std::countr_zero(bits);
    out[count++] = {lanes[lane], query, first_key + lane};
  }
  return count;
}

int64_t ScanTile(const float* group, const float* panel, int64_t dim, const float* half_norms,
                 const float* thresholds, CellBelow* out) {
  const Floats d;
  Sums sums;
  // What is left of the half norm after all pieces but the last.
  HWY_ALIGN float rest[kQueries * kKeys];
  const float* minuends = half_norms;
  int64_t minuends_step = 0;
  for (; dim > kDotPiece; dim -= kDotPiece) {
    AddProducts(group, panel, kDotPiece, sums);
    for (int q = 0; q < kQueries; ++q) {
      for (int v = 0; v < kVectors; ++v) {
        const V minuend = hn::LoadU(d, minuends + q * minuends_step + v * kLanes);
        hn::Store(hn::Sub(minuend, sums[q][v]), d, rest + q * kKeys + v * kLanes);
      }
    }
    minuends = rest;
    minuends_step = kKeys;
    group += kDotPiece * kQueries;
    panel += kDotPiece * kKeys;
  }
  AddProducts(group, panel, dim, sums);
  int64_t count = 0;
  RESMEM_UNROLL for (int q = 0; q < kQueries; ++q) {
    const V threshold = hn::Set(d, thresholds[q]);
    RESMEM_UNROLL for (int v = 0; v < kVectors; ++v) {
      const V minuend = hn::LoadU(d, minuends + q * minuends_step + v * kLanes);
      const V values = hn::Sub(minuend, sums[q][v]);
      const auto below = hn::Le(values, threshold);
      if (HWY_UNLIKELY(!hn::AllFalse(d, below))) {
        count += Append(values, below, q, v * kLanes, out + count);
      }
    }
  }
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(ScanTileShape);
HWY_EXPORT(PackPanel);
HWY_EXPORT(ScanTile);

TileShape ScanTileShape() {
  return RESMEM_DISPATCH(ScanTileShape)();
}
void PackPanel(const float* keys, int64_t count, int64_t dim, const float* center, float* panel) {
  RESMEM_DISPATCH(PackPanel)(keys, count, dim, center, panel);
}
int64_t ScanTile(const float* group, const float* panel, int64_t dim, const float* half_norms,
                 const float* thresholds, CellBelow* out) {
  return RESMEM_DISPATCH(ScanTile)(group, panel, dim, half_norms, thresholds, out);
}

}  // namespace resmem
#endif  // HWY_ONCE
