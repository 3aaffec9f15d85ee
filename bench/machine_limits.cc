#include "machine_limits.h"

#include <algorithm>
#include <atomic>

#include "kernels/amx.h"
#include "support/parallel.h"
#include "timing.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "machine_limits.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace resmem::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

float SumOf(const float* data, int64_t n) {
  const hn::ScalableTag<float> d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  for (int64_t i = 0; i + 4 * step <= n; i += 4 * step) {
    a = hn::Add(a, hn::LoadU(d, data + i));
    b = hn::Add(b, hn::LoadU(d, data + i + step));
    c = hn::Add(c, hn::LoadU(d, data + i + 2 * step));
    e = hn::Add(e, hn::LoadU(d, data + i + 3 * step));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

// `rounds` times twelve independent vectors of multiply-add; returns the operations.
double MultiplyAdd(int64_t rounds, float* keep) {
  const hn::ScalableTag<float> d;
  const auto x = hn::Set(d, *keep);
  hn::Vec<decltype(d)> sums[12];
  for (auto& sum : sums) sum = x;
  for (int64_t i = 0; i < rounds; ++i) {
    _Pragma("GCC unroll 12") for (auto& sum : sums) sum = hn::MulAdd(sum, x, x);
  }
  for (auto& sum : sums) *keep += hn::GetLane(sum);
  return 2.0 * 12.0 * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem::bench {

HWY_EXPORT(SumOf);
HWY_EXPORT(MultiplyAdd);

double ReadBandwidth(const float* data, int64_t n, int threads) {
  std::atomic<float> keep{0};
  double best = 0;
  for (int pass = 0; pass < 7; ++pass) {
    const double start = SecondsNow();
    ParallelFor(threads, n, 1 << 16, [&](int64_t begin, int64_t end, int) {
      keep = HWY_DYNAMIC_DISPATCH(SumOf)(data + begin, end - begin);
    });
    best = std::max(best, static_cast<double>(n) * 4 / (SecondsNow() - start));
  }
  return best;
}

namespace {

// As MultiplyAdd(), by tiles.
double MultiplyTiles([[maybe_unused]] int64_t rounds) {
#if defined(__x86_64__)
  const TileScope scope;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  for (int64_t i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  return 4.0 * 2 * 16 * 16 * 32 * static_cast<double>(rounds);
#else
  return 0;
#endif
}

}  // namespace

double PeakFlops(int threads, bool tiles) {
  double best = 0;
  for (int pass = 0; pass < 5; ++pass) {
    std::atomic<double> operations{0};
    const double start = SecondsNow();
    ParallelFor(threads, threads * 8, 1, [&](int64_t, int64_t, int) {
      float keep = 0.5f;
      operations +=
          tiles ? MultiplyTiles(100000) : HWY_DYNAMIC_DISPATCH(MultiplyAdd)(500000, &keep);
    });
    best = std::max(best, operations / (SecondsNow() - start));
  }
  return best;
}

}  // namespace resmem::bench
#endif  // HWY_ONCE
