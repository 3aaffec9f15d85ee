#include "search/count_smaller.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/count_smaller.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void CountSmallerHere(const double* values, int64_t count, int32_t* smaller) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; ++i) {
    const auto value = hn::Set(d, values[i]);
    int64_t below = 0, j = 0;
    for (; j + lanes <= count; j += lanes) {
      below += static_cast<int64_t>(hn::CountTrue(d, hn::Lt(hn::LoadU(d, values + j), value)));
    }
    for (; j < count; ++j) below += values[j] < values[i] ? 1 : 0;
    smaller[i] = static_cast<int32_t>(below);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(CountSmallerHere);

void CountSmaller(const double* values, int64_t count, int32_t* smaller) {
  RESMEM_DISPATCH(CountSmallerHere)(values, count, smaller);
}

}  // namespace resmem
#endif  // HWY_ONCE
