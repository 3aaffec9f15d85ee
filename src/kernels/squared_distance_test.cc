#include "kernels/squared_distance.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

// The sentence in the header, word for word.
template <class T, int kLanes>
T AsSpecified(const float* a, const float* b, int64_t n) {
  T lanes[kLanes] = {};
  for (int64_t i = 0; i < n; ++i) {
    const T difference = static_cast<T>(a[i]) - static_cast<T>(b[i]);
    const T product = difference * difference;
    lanes[i % kLanes] += product;
  }
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

TEST(SquaredDistance, EveryInstructionSetComputesTheSpecificationBitForBit) {
  Random random(5);
  std::vector<float> a(300), b(300);
  for (const double spread : {1e-40, 1e-3, 1.0, 1e30}) {
    for (float& value : a) value = static_cast<float>(spread * random.Normal());
    for (float& value : b) value = static_cast<float>(random.Normal());
    for (int64_t n = 0; n <= 130; ++n) {
      for (const int64_t offset : {0, 1, 3}) {
        const float *x = a.data() + offset, *y = b.data() + 2 * offset;
        const double expected = AsSpecified<double, 16>(x, y, n);
        const float roughly = AsSpecified<float, 32>(x, y, n);
        AtEverySimdLevel([&] {
          const double found = SquaredDistance(x, y, n);
          ASSERT_EQ(std::bit_cast<uint64_t>(found), std::bit_cast<uint64_t>(expected)) << n;
          const float rough = RoughSquaredDistance(x, y, n);
          ASSERT_EQ(std::bit_cast<uint32_t>(rough), std::bit_cast<uint32_t>(roughly)) << n;
        });
      }
    }
  }
}

TEST(SquaredDistance, LargestAndSmallestFloatsNeitherOverflowNorVanish) {
  const float big = std::numeric_limits<float>::max();
  const float tiny = std::numeric_limits<float>::denorm_min();
  AtEverySimdLevel([&] {
    const std::vector<float> top(100, big), bottom(100, -big), small(100, tiny), zero(100, 0.0f);
    EXPECT_TRUE(std::isfinite(SquaredDistance(top.data(), bottom.data(), 100)));
    EXPECT_GT(SquaredDistance(small.data(), zero.data(), 100), 0.0);
  });
}

}  // namespace
}  // namespace resmem
