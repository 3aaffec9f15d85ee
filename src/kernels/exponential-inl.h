// The exponential of a vector, and what its users share: ends that do not fill a vector, and sums
// in a fixed order.  Included by kernel files after hwy/highway.h, once per instruction set.
#if defined(RESMEM_KERNELS_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RESMEM_KERNELS_EXPONENTIAL_INL_H_
#undef RESMEM_KERNELS_EXPONENTIAL_INL_H_
#else
#define RESMEM_KERNELS_EXPONENTIAL_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kVirtualLanes = 16;
using Floats = hn::CappedTag<float, kVirtualLanes>;

// x = m ln 2 + r with |r| <= ln 2 / 2; e^x = 2^m e^r.  e^r is the polynomial of Cephes' expf.
// Where x <= 0 is known, the same bits in fewer steps.
enum class Range { kAny, kNotPositive };
template <Range range = Range::kAny, class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOf(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V lowest = hn::Set(d, -87.33f), highest = hn::Set(d, 88.72283f);
  const V round = hn::Set(d, 0x1.8p23f);  // adding it leaves the nearest integer in the low bits
  V clamped = hn::Max(x, lowest);
  if (range == Range::kAny) clamped = hn::Min(clamped, highest);
  const V shifted = hn::Add(hn::Mul(clamped, hn::Set(d, 1.44269504088896341f)), round);
  const V m = hn::Sub(shifted, round);
  V r = hn::Sub(clamped, hn::Mul(m, hn::Set(d, 0.693359375f)));
  r = hn::Sub(r, hn::Mul(m, hn::Set(d, -2.12194440e-4f)));
  V p = hn::Set(d, 1.9875691500e-4f);
  p = hn::Add(hn::Mul(p, r), hn::Set(d, 1.3981999507e-3f));
  p = hn::Add(hn::Mul(p, r), hn::Set(d, 8.3334519073e-3f));
  p = hn::Add(hn::Mul(p, r), hn::Set(d, 4.1665795894e-2f));
  p = hn::Add(hn::Mul(p, r), hn::Set(d, 1.6666665459e-1f));
  p = hn::Add(hn::Mul(p, r), hn::Set(d, 5.0000001201e-1f));
  p = hn::Add(hn::Add(hn::Mul(p, hn::Mul(r, r)), r), hn::Set(d, 1.0f));
  const auto bias = hn::Set(di, 127);
  if (range == Range::kNotPositive) {
    // The bits of `round` that are not shifted out are 0.
    p = hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::BitCast(di, shifted), bias))));
    return hn::IfThenZeroElse(hn::Lt(x, lowest), p);
  }
  // 2^128 has no float: two factors.
  const auto power = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, round));
  const auto half = hn::ShiftRight<1>(power);
  p = hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias))));
  p = hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(power, half), bias))));
  p = hn::IfThenZeroElse(hn::Lt(x, lowest), p);
  return hn::IfThenElse(hn::Gt(x, highest), hn::Set(d, std::numeric_limits<float>::infinity()), p);
}

// The first `count` values of x, and zeros.  Half a vector or a quarter wherever that will do: the
// processor waits for every line within a load, also where its lanes are masked, and what lies
// behind a row nobody has fetched.
template <class D>
HWY_INLINE hn::Vec<D> LoadMasked(D d, const float* x, int64_t count) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    if (count <= static_cast<int64_t>(hn::Lanes(half))) {
      return hn::ZeroExtendVector(d, LoadMasked(half, x, count));
    }
  }
#endif
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, x);
}

// The first `count` values of x, fewer than fill a vector, and `rest` behind them.
HWY_INLINE hn::Vec<Floats> LoadFirst(const float* x, int64_t count, float rest) {
  const Floats d;
#if HWY_MEM_OPS_MIGHT_FAULT  // reads beyond them are not masked by the processor
  HWY_ALIGN float buffer[kVirtualLanes];
  std::fill_n(std::copy_n(x, count, buffer), kVirtualLanes - count, rest);
  return hn::Load(d, buffer);
#else
  const auto first = hn::FirstN(d, static_cast<size_t>(count));
  return hn::IfThenElse(first, LoadMasked(d, x, count), hn::Set(d, rest));
#endif
}

HWY_INLINE void StoreFirst(hn::Vec<Floats> v, int64_t count, float* out) {
  const Floats d;
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN float buffer[kVirtualLanes];
  hn::Store(v, d, buffer);
  std::copy_n(buffer, count, out);
#else
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, out);
#endif
}

// The sum of a vector's lanes, in the fixed order: halves upon halves.
template <class D>
HWY_INLINE float SumOfHalves(D, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    return SumOfHalves(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
