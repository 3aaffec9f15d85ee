#include "kernels/squared_distance.h"

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
HWY_INLINE double SumOfHalves(V v) {
#if HWY_TARGET != HWY_SCALAR
  using D = hn::DFromV<V>;
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    return SumOfHalves(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

double SquaredDistance(const float* a, const float* b, int64_t n, const float* next) {
  if (next == nullptr) next = b;  // which costs nothing
  constexpr int64_t kLanes = 16;
  using Doubles = hn::CappedTag<double, kLanes>;
  const Doubles d;
  const hn::Rebind<float, Doubles> floats;
  constexpr int64_t kStep = hn::MaxLanes(Doubles());  // divides kLanes
  constexpr int64_t kVectors = kLanes / kStep;

  hn::Vec<Doubles> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    // A line a round: asked for all at once, they would wait for each other (twice the time).
    __builtin_prefetch(next + i, 0, 2);
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto from = hn::PromoteTo(d, hn::LoadU(floats, a + i + v * kStep));
      const auto to = hn::PromoteTo(d, hn::LoadU(floats, b + i + v * kStep));
      const auto difference = hn::Sub(from, to);
      sums[v] = hn::Add(sums[v], hn::Mul(difference, difference));
    }
  }
  if (i < n) {
    HWY_ALIGN double lanes[kLanes];
    for (int64_t v = 0; v < kVectors; ++v) hn::Store(sums[v], d, lanes + v * kStep);
    for (int64_t lane = 0; i < n; ++i, ++lane) {
      const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
      lanes[lane] += difference * difference;
    }
    for (int64_t v = 0; v < kVectors; ++v) sums[v] = hn::Load(d, lanes + v * kStep);
  }
  for (int64_t width = kVectors / 2; width > 0; width /= 2) {
    for (int64_t v = 0; v < width; ++v) sums[v] = hn::Add(sums[v], sums[v + width]);
  }
  return SumOfHalves(sums[0]);
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(SquaredDistance);

double SquaredDistance(const float* a, const float* b, int64_t n, const float* next) {
  return RESMEM_DISPATCH(SquaredDistance)(a, b, n, next);
}

}  // namespace resmem
#endif  // HWY_ONCE
