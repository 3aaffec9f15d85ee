#include "kernels/squared_distance.h"

#include "kernels/prefetch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/squared_distance.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lane l takes in lane l + half of them, until one is left.
template <class V>
HWY_INLINE hn::TFromV<V> SumOfHalves(V v) {
#if HWY_TARGET != HWY_SCALAR
  using D = hn::DFromV<V>;
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    return SumOfHalves(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

template <class D>
HWY_INLINE hn::Vec<D> LoadAs(D d, const float* from) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
  }
}

// Term i goes to lane i % kLanes.
template <class T, int64_t kLanes>
HWY_INLINE T SumOfSquares(const float* a, const float* b, int64_t n, const float* next) {
  if (next == nullptr) next = b;  // which costs nothing
  using Tag = hn::CappedTag<T, kLanes>;
  const Tag d;
  constexpr int64_t kStep = hn::MaxLanes(Tag());  // divides kLanes
  constexpr int64_t kVectors = kLanes / kStep;
  constexpr int64_t kFloatsOfALine = 16;

  hn::Vec<Tag> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    // A line or two a round: asked for all at once, they would wait for each other (twice the
    // time).
    for (int64_t line = 0; line < kLanes; line += kFloatsOfALine) {
      PrefetchLine(next + i + line);
    }
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto difference = hn::Sub(LoadAs(d, a + i + v * kStep), LoadAs(d, b + i + v * kStep));
      sums[v] = hn::Add(sums[v], hn::Mul(difference, difference));
    }
  }
  if (i < n) {
    HWY_ALIGN T lanes[kLanes];
    for (int64_t v = 0; v < kVectors; ++v) hn::Store(sums[v], d, lanes + v * kStep);
    for (int64_t lane = 0; i < n; ++i, ++lane) {
      const T difference = static_cast<T>(a[i]) - static_cast<T>(b[i]);
      lanes[lane] += difference * difference;
    }
    for (int64_t v = 0; v < kVectors; ++v) sums[v] = hn::Load(d, lanes + v * kStep);
  }
  for (int64_t width = kVectors / 2; width > 0; width /= 2) {
    for (int64_t v = 0; v < width; ++v) sums[v] = hn::Add(sums[v], sums[v + width]);
  }
  return SumOfHalves(sums[0]);
}

double SquaredDistance(const float* a, const float* b, int64_t n, const float* next) {
  return SumOfSquares<double, 16>(a, b, n, next);
}

float RoughSquaredDistance(const float* a, const float* b, int64_t n, const float* next) {
  return SumOfSquares<float, 32>(a, b, n, next);
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(SquaredDistance);
HWY_EXPORT(RoughSquaredDistance);

double SquaredDistance(const float* a, const float* b, int64_t n, const float* next) {
  return RESMEM_DISPATCH(SquaredDistance)(a, b, n, next);
}

float RoughSquaredDistance(const float* a, const float* b, int64_t n, const float* next) {
  return RESMEM_DISPATCH(RoughSquaredDistance)(a, b, n, next);
}

}  // namespace resmem
#endif  // HWY_ONCE
