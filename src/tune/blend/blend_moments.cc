#include "tune/blend/blend_moments.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tune/blend/blend_moments.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kLanes = 8;
using Doubles = hn::CappedTag<double, kLanes>;

HWY_INLINE hn::Vec<Doubles> LoadDoubles(const float* x) {
  const Doubles d;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Doubles>(), x));
}

void BlendEta(const double* b, const float* const* parts, int64_t classes, float* eta) {
  const Doubles d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + step <= classes; c += step) {
    auto sum = hn::Mul(hn::Set(d, b[0]), LoadDoubles(parts[0] + c));
    for (size_t j = 1; j < kMostMomentParts; ++j) {
      sum = hn::Add(sum, hn::Mul(hn::Set(d, b[j]), LoadDoubles(parts[j] + c)));
    }
    const hn::Rebind<float, Doubles> floats;
    hn::StoreU(hn::DemoteTo(floats, sum), floats, eta + c);
  }
  for (; c < classes; ++c) {
    double sum = b[0] * static_cast<double>(parts[0][c]);
    for (size_t j = 1; j < kMostMomentParts; ++j) sum += b[j] * static_cast<double>(parts[j][c]);
    eta[c] = static_cast<float>(sum);
  }
}

template <size_t kUsed>
HWY_INLINE void Moments(const float* p, const float* const* parts, int64_t classes, double* sums) {
  constexpr size_t kSums = kUsed * (kUsed + 3) / 2;
  const Doubles d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = classes / kLanes * kLanes;
  float rest[kUsed + 1][kLanes] = {};  // of p, and of each part; zeros behind the end
  std::copy(p + whole, p + classes, rest[0]);
  for (size_t j = 0; j < kUsed; ++j) std::copy(parts[j] + whole, parts[j] + classes, rest[j + 1]);
  double lanes[kSums][kLanes];
  for (int64_t lane = 0; lane < kLanes; lane += step) {
    hn::Vec<Doubles> totals[kSums];
    for (auto& total : totals) total = hn::Zero(d);
    const auto add = [&](const float* weights, const float* const* x, int64_t c) HWY_ATTR {
      const auto weight = LoadDoubles(weights + c + lane);
      hn::Vec<Doubles> values[kUsed];
      for (size_t j = 0; j < kUsed; ++j) values[j] = LoadDoubles(x[j] + c + lane);
      size_t next = 0;
      for (size_t j = 0; j < kUsed; ++j) {
        const auto weighted = hn::Mul(weight, values[j]);
        totals[next] = hn::Add(totals[next], weighted);
        ++next;
        for (size_t l = 0; l <= j; ++l, ++next) {
          totals[next] = hn::Add(totals[next], hn::Mul(weighted, values[l]));
        }
      }
    };
    for (int64_t c = 0; c < whole; c += kLanes) add(p, parts, c);
    const float* rests[kUsed];
    for (size_t j = 0; j < kUsed; ++j) rests[j] = rest[j + 1];
    if (whole < classes) add(rest[0], rests, 0);
    for (size_t s = 0; s < kSums; ++s) hn::StoreU(totals[s], d, lanes[s] + lane);
  }
  for (size_t s = 0; s < kSums; ++s) {
    sums[s] = 0;
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[s] += lanes[s][lane];
  }
}

void BlendMoments(const float* p, const float* const* parts, size_t used, int64_t classes,
                  double* sums) {
  switch (used) {
    case 1:
      return Moments<1>(p, parts, classes, sums);
    case 2:
      return Moments<2>(p, parts, classes, sums);
    case 3:
      return Moments<3>(p, parts, classes, sums);
    default:
      return Moments<4>(p, parts, classes, sums);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(BlendEta);
HWY_EXPORT(BlendMoments);

void BlendEta(const double* b, const float* const* parts, int64_t classes, float* eta) {
  RESMEM_DISPATCH(BlendEta)(b, parts, classes, eta);
}

void BlendMoments(const float* p, const float* const* parts, size_t used, int64_t classes,
                  double* sums) {
  RESMEM_DISPATCH(BlendMoments)(p, parts, used, classes, sums);
}

}  // namespace resmem
#endif  // HWY_ONCE
