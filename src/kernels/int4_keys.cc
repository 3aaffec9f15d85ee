#include "kernels/int4_keys.h"

#include <array>
#include <cstddef>

namespace resmem {

void Int4ToFloat(const uint8_t* packed, int64_t n, float scale, const float* center, float* out) {
  std::array<float, 16> steps;
  for (size_t number = 0; number < steps.size(); ++number) {
    steps[number] = scale * (static_cast<float>(number) - 7.5f);
  }
  int64_t i = 0;
  for (; i + 2 <= n; i += 2) {
    const uint8_t two = packed[i / 2];
    out[i] = center[i] + steps[two & 15];
    out[i + 1] = center[i + 1] + steps[two >> 4];
  }
  if (i < n) out[i] = center[i] + steps[packed[i / 2] & 15];
}

void PackInt4(const int8_t* codes, int64_t n, uint8_t* packed) {
  const auto number = [&](int64_t i) { return i < n ? (codes[i] + 120) / 16 : 0; };
  for (int64_t i = 0; i < n; i += 2) {
    packed[i / 2] = static_cast<uint8_t>(number(i) | number(i + 1) << 4);
  }
}

}  // namespace resmem
