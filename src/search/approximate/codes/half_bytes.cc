#include "search/approximate/codes/half_bytes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/approximate/codes/half_bytes.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"
#include "search/approximate/codes/list_scan_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kLanes = 16;  // of sums, whatever the vectors: their order decides how they round

// x / step in codes, and how near they come: the sum of x times codes, and that of their squares.
struct Fit {
  double product;
  int32_t square;
};
Fit CodeBySteps(const float* x, int64_t count, float step, int8_t* codes) {
  float products[kLanes] = {};
  int32_t squares[kLanes] = {};
  const auto add = [&](int64_t i, int64_t lane) HWY_ATTR {
    const float number = x[i] / step + 8.0f;  // n - 7.5 stands in the middle of what rounds to n
    const float least = number > 0.0f ? number : 0.0f;
    const auto code = static_cast<int32_t>(least < 15.0f ? least : 15.0f) * 16 - 120;
    codes[i] = static_cast<int8_t>(code);
    products[lane] += x[i] * static_cast<float>(code);
    squares[lane] += code * code;
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  }
  for (int64_t lane = 0; i + lane < count; ++lane) add(i + lane, lane);
  Fit fit{};
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    fit.product += products[lane];
    fit.square += squares[lane];
  }
  return fit;
}

float QuantizeHere(const float* x, int64_t count, int8_t* codes) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float magnitude = x[i] < 0 ? -x[i] : x[i];
    largest = magnitude > largest ? magnitude : largest;
  }
  const float widest = largest / 8;
  // Where the largest are few, others are told apart better without them.
  constexpr float kShares[] = {1.0f, 0.875f, 0.75f, 0.625f};
  if (kShares[3] * widest < std::numeric_limits<float>::min()) {
    std::fill_n(codes, count, kHalfByteOfZero);
    return 0.0f;
  }
  const auto nearness = [](const Fit& fit) { return fit.product * fit.product / fit.square; };
  Fit best = CodeBySteps(x, count, widest, codes);
  for (size_t i = 1; i < std::size(kShares); ++i) {
    const Fit fit = CodeBySteps(x, count, kShares[i] * widest, codes);
    if (!(nearness(fit) > nearness(best))) {  // as before, then
      best = CodeBySteps(x, count, kShares[i - 1] * widest, codes);
      break;
    }
    best = fit;
  }
  return static_cast<float>(best.product / best.square);
}

void UnpackHere(const uint8_t* packed, int64_t blocks, int64_t width, uint8_t* codes) {
  constexpr int64_t kVector = kBlockRows * 4;  // four bytes of each row of a block
  const hn::CappedTag<uint8_t, kVector> d;
  const auto upper_bits = hn::Set(d, uint8_t{0xf0}), middle = hn::Set(d, uint8_t{8});
  for (int64_t vector = 0; vector < blocks * width / 8; ++vector) {
    for (int64_t i = 0; i < kVector; i += static_cast<int64_t>(hn::Lanes(d))) {
      const auto both = hn::LoadU(d, packed + vector * kVector + i);
      uint8_t* out = codes + 2 * vector * kVector + i;
      hn::StoreU(hn::Or(hn::ShiftLeft<4>(both), middle), d, out);
      hn::StoreU(hn::Or(hn::And(both, upper_bits), middle), d, out + kVector);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(QuantizeHere);
HWY_EXPORT(UnpackHere);

float QuantizeHalfBytes(const float* x, int64_t count, int8_t* codes) {
  return RESMEM_DISPATCH(QuantizeHere)(x, count, codes);
}

void PackHalfBytes(const int8_t* codes, int64_t width, uint8_t* packed) {
  const auto number = [&](int64_t i) { return (codes[i] + 120) / 16; };
  for (int64_t i = 0; i < width; i += 8) {
    for (int64_t j = 0; j < 4; ++j) {
      packed[i / 2 + j] = static_cast<uint8_t>(number(i + j) | number(i + 4 + j) << 4);
    }
  }
}

void UnpackHalfBytes(const uint8_t* packed, int64_t blocks, int64_t width, uint8_t* codes) {
  RESMEM_DISPATCH(UnpackHere)(packed, blocks, width, codes);
}

}  // namespace resmem
#endif  // HWY_ONCE
