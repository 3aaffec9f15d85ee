// The natural logarithm, the same bits on every machine: the C library's differs in the last place
// between processors with and without fused multiply-add.
#ifndef RESMEM_PREDICT_PORTABLE_LOG_H_
#define RESMEM_PREDICT_PORTABLE_LOG_H_

#include <bit>
#include <cstdint>

namespace resmem {

// Of a positive, normal, finite float; within 1e-9 before it is rounded.
inline float PortableLog(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  // x = 2^exponent * m with m in [0.7071, 1.4142).
  const auto shifted = static_cast<int32_t>(bits - 0x3f3504f3u);
  const int32_t exponent = shifted >> 23;
  const auto m =
      static_cast<double>(std::bit_cast<float>(bits - (static_cast<uint32_t>(exponent) << 23)));
  // log m = 2 atanh(s), |s| < 0.1716.
  const double s = (m - 1) / (m + 1), q = s * s;
  const double series =
      1 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11)))));
  return static_cast<float>(2 * s * series + 0.6931471805599453 * exponent);
}

// Of a positive, normal, finite double; within 1e-15 before it is rounded.
inline double PortableLog(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const auto shifted = static_cast<int64_t>(bits - 0x3fe6a09e667f3bcdu);
  const int64_t exponent = shifted >> 52;
  const auto m = std::bit_cast<double>(bits - (static_cast<uint64_t>(exponent) << 52));
  const double s = (m - 1) / (m + 1), q = s * s;
  double series = 0;
  for (int n = 21; n >= 1; n -= 2) series = series * q + 1.0 / n;
  return 2 * s * series + 0.6931471805599453 * static_cast<double>(exponent);
}

}  // namespace resmem

#endif  // RESMEM_PREDICT_PORTABLE_LOG_H_
