#include "kernels/long_row.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/long_row.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kVirtualLanes = 16;
using Floats = hn::CappedTag<float, kVirtualLanes>;

HWY_INLINE int64_t Step() {
  return static_cast<int64_t>(hn::Lanes(Floats()));
}

bool AllWithin(const float* x, int64_t n, float limit) {
  const Floats d;
  const auto most = hn::Set(d, limit);
  auto within = hn::Le(hn::Zero(d), hn::Zero(d));
  int64_t i = 0;
  for (; i + Step() <= n; i += Step()) {
    within = hn::And(within, hn::Le(hn::Abs(hn::LoadU(d, x + i)), most));
  }
  bool all = hn::AllTrue(d, within);
  for (; i < n; ++i) all = all && std::abs(x[i]) <= limit;
  return all;
}

// The sum of value(v), in double precision, over vectors of a quarter of the virtual lanes or
// less; what fills up the last of them is 0, and so must be its value.
template <class Value>
HWY_INLINE double WideSum(const float* x, int64_t n, const Value& value) {
  const hn::CappedTag<double, kVirtualLanes / 2> wide;
  const hn::Rebind<float, decltype(wide)> narrow;
  const auto step = static_cast<int64_t>(hn::Lanes(wide));
  constexpr int64_t kMostVectors = kVirtualLanes;  // of one lane each
  hn::Vec<decltype(wide)> sums[kMostVectors];
  const int64_t vectors = kVirtualLanes / step;
  for (int64_t v = 0; v < vectors; ++v) sums[v] = hn::Zero(wide);
  const auto add = [&](const float* from) HWY_ATTR {
    for (int64_t v = 0; v < vectors; ++v) {
      sums[v] =
          hn::Add(sums[v], value(wide, hn::PromoteTo(wide, hn::LoadU(narrow, from + v * step))));
    }
  };
  int64_t i = 0;
  for (; i + kVirtualLanes <= n; i += kVirtualLanes) add(x + i);
  if (i < n) {
    float rest[kVirtualLanes] = {};
    std::copy(x + i, x + n, rest);
    add(rest);
  }
  double lanes[kVirtualLanes];
  for (int64_t v = 0; v < vectors; ++v) hn::StoreU(sums[v], wide, lanes + v * step);
  for (int64_t width = kVirtualLanes / 2; width > 0; width /= 2) {
    for (int64_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

double SumMagnitudes(const float* x, int64_t n, float bound) {
  const auto limit = static_cast<double>(bound);
  return WideSum(x, n, [limit](auto d, auto v) HWY_ATTR {
    const auto magnitude = hn::Abs(v);
    return hn::IfThenElseZero(hn::Lt(magnitude, hn::Set(d, limit)), magnitude);
  });
}

double SumOfSquares(const float* x, int64_t n) {
  return WideSum(x, n, [](auto, auto v) HWY_ATTR { return hn::Mul(v, v); });
}

// Value i is in group i % kGroups.  Each of the `top` groups with the largest values has one that
// is as large as the smallest of these.  Neighboring values, which in a vocabulary are often large
// together, fall into different groups.
float LowerBound(const float* x, int64_t n, int64_t top) {
  constexpr int64_t kGroups = 512;
  if (top > kGroups || n < kGroups) return 0;
  const Floats d;
  HWY_ALIGN float largest[kGroups] = {};
  for (int64_t first = 0; first + kGroups <= n; first += kGroups) {
    for (int64_t group = 0; group < kGroups; group += Step()) {
      const auto magnitude = hn::Abs(hn::LoadU(d, x + first + group));
      hn::Store(hn::Max(hn::Load(d, largest + group), magnitude), d, largest + group);
    }
  }
  std::nth_element(largest, largest + (top - 1), largest + kGroups, std::greater<>());
  return largest[top - 1];
}

void FindLargeMagnitudes(const float* x, int64_t n, int64_t top, std::vector<int32_t>* positions) {
  const Floats d;
  const float bound = LowerBound(x, n, top);
  const auto smallest = hn::Set(d, bound);
  positions->clear();
  int64_t i = 0;
  const auto add = [&](int64_t end) {
    for (; i < end; ++i) {
      if (std::abs(x[i]) >= bound) positions->push_back(static_cast<int32_t>(i));
    }
  };
  while (i + Step() <= n) {
    if (HWY_LIKELY(hn::AllFalse(d, hn::Ge(hn::Abs(hn::LoadU(d, x + i)), smallest)))) {
      i += Step();
    } else {
      add(i + Step());
    }
  }
  add(n);
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(AllWithin);
HWY_EXPORT(SumMagnitudes);
HWY_EXPORT(SumOfSquares);
HWY_EXPORT(FindLargeMagnitudes);

bool AllWithin(const float* x, int64_t n, float limit) {
  return RESMEM_DISPATCH(AllWithin)(x, n, limit);
}
double SumMagnitudes(const float* x, int64_t n, float bound) {
  return RESMEM_DISPATCH(SumMagnitudes)(x, n, bound);
}
double SumOfSquares(const float* x, int64_t n) {
  return RESMEM_DISPATCH(SumOfSquares)(x, n);
}
void FindLargeMagnitudes(const float* x, int64_t n, int64_t top, std::vector<int32_t>* positions) {
  RESMEM_DISPATCH(FindLargeMagnitudes)(x, n, top, positions);
}

}  // namespace resmem
#endif  // HWY_ONCE
