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
double AsSpecified(const float* a, const float* b, int64_t n) {
  double lanes[16] = {};
  for (int64_t i = 0; i < n; ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    const double product = difference * difference;
    lanes[i % 16] += product;
  }
  for (int width : {8, 4, 2, 1}) {
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
        const double expected = AsSpecified(a.data() + offset, b.data() + 2 * offset, n);
        AtEverySimdLevel([&] {
          const double found = SquaredDistance(a.data() + offset, b.data() + 2 * offset, n);
          ASSERT_EQ(std::bit_cast<uint64_t>(found), std::bit_cast<uint64_t>(expected)) << n;
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
