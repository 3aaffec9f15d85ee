#include "kernels/number_codec.h"

#include <bit>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/number_codec.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The specification, and the only way where the machine cannot convert by itself.
HWY_INLINE float FloatOfHalf(uint32_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) {  // infinity, or NaN made quiet
    const uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13) | quiet);
  }
  // As float bits the exponent is 112 too small; the product puts that right, exactly, and
  // turns a subnormal half into a normal float.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
}

HWY_INLINE uint16_t HalfOfFloat(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: a subnormal half
    // 0.5 has its last bit at 2^-24, as subnormal halves do: the sum rounds to that place.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    half = std::bit_cast<uint32_t>(sum) - 0x3f000000u;
  } else {
    const uint32_t to_even = 0xfffu + ((magnitude >> 13) & 1u);
    half = (magnitude - 0x38000000u + to_even) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}

#if HWY_ARCH_X86 && (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)  // they have F16C

void HalfToFloat(const uint16_t* halves, int64_t n, float* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half_tag;
  const hn::Rebind<uint16_t, decltype(d)> bits_tag;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto half = hn::BitCast(half_tag, hn::LoadU(bits_tag, halves + i));
    hn::StoreU(hn::PromoteTo(d, half), d, out + i);
  }
  for (; i < n; ++i) out[i] = FloatOfHalf(halves[i]);
}

void FloatToHalf(const float* x, int64_t n, uint16_t* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half_tag;
  const hn::Rebind<uint16_t, decltype(d)> bits_tag;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto half = hn::DemoteTo(half_tag, hn::LoadU(d, x + i));
    hn::StoreU(hn::BitCast(bits_tag, half), bits_tag, out + i);
  }
  for (; i < n; ++i) out[i] = HalfOfFloat(x[i]);
}

#else

void HalfToFloat(const uint16_t* halves, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = FloatOfHalf(halves[i]);
}
void FloatToHalf(const float* x, int64_t n, uint16_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = HalfOfFloat(x[i]);
}

#endif

// Plain loops from here: the compiler vectorizes them, and they are exact or elementwise.
void Int8ToFloat(const int8_t* codes, int64_t n, float scale, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = scale * static_cast<float>(codes[i]);
}

float QuantizeInt8(const float* x, int64_t n, int8_t* codes) {
  constexpr uint32_t kMagnitude = 0x7fffffffu;
  uint32_t largest_bits = 0;  // magnitudes of floats are ordered as their bits
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(x[i]) & kMagnitude;
    largest_bits = bits > largest_bits ? bits : largest_bits;
  }
  const float scale = std::bit_cast<float>(largest_bits) / 127.0f;
  if (scale < std::numeric_limits<float>::min()) {
    for (int64_t i = 0; i < n; ++i) codes[i] = 0;
    return 0.0f;
  }
  // |x / scale| <= 127.0001, so that rounding (the sum leaves the nearest integer in the low
  // bits) stays within -127 .. 127.
  constexpr float kRound = 0x1.8p23f;
  for (int64_t i = 0; i < n; ++i) {
    const float shifted = x[i] / scale + kRound;
    codes[i] =
        static_cast<int8_t>(std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound));
  }
  return scale;
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(HalfToFloat);
HWY_EXPORT(FloatToHalf);
HWY_EXPORT(Int8ToFloat);
HWY_EXPORT(QuantizeInt8);

void HalfToFloat(const uint16_t* halves, int64_t n, float* out) {
  RESMEM_DISPATCH(HalfToFloat)(halves, n, out);
}
void FloatToHalf(const float* x, int64_t n, uint16_t* out) {
  RESMEM_DISPATCH(FloatToHalf)(x, n, out);
}
void Int8ToFloat(const int8_t* codes, int64_t n, float scale, float* out) {
  RESMEM_DISPATCH(Int8ToFloat)(codes, n, scale, out);
}
float QuantizeInt8(const float* x, int64_t n, int8_t* codes) {
  return RESMEM_DISPATCH(QuantizeInt8)(x, n, codes);
}

}  // namespace resmem
#endif  // HWY_ONCE
