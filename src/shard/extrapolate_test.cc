#include "shard/extrapolate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random.h"

namespace resmem {
namespace {

TEST(Extrapolate, FindsALineAgain) {
  const std::vector<WeightedPoint> points = {{1, 5, 1}, {2, 7, 4}, {3, 9, 2}, {7, 17, 1}};
  const Estimate at = Extrapolate(points, 100, 1);
  EXPECT_NEAR(at.value, 203, 1e-9);
  EXPECT_NEAR(at.low, 203, 1e-6);
  EXPECT_NEAR(at.high, 203, 1e-6);
}

TEST(Extrapolate, TwoPointsSayNothingOfTheirScatter) {
  const std::vector<WeightedPoint> two = {{1, 5}, {2, 7}};
  EXPECT_NEAR(Extrapolate(two, 3, 1).value, 9, 1e-9);
  EXPECT_TRUE(std::isinf(Extrapolate(two, 3, 1).high));
  const std::vector<WeightedPoint> same = {{1, 5}, {1, 7}, {1, 6}};
  EXPECT_NEAR(Extrapolate(same, 3, 1).value, 6, 1e-9);
  EXPECT_TRUE(std::isinf(Extrapolate(same, 3, 1).low));
}

// Of 4,000 lines with noise, 95 % of what comes next lies inside; also where the noise differs.
TEST(Extrapolate, TheIntervalHoldsWhatItClaims) {
  Random random(1);
  for (const bool even : {true, false}) {
    int inside = 0;
    constexpr int kLines = 4000;
    for (int line = 0; line < kLines; ++line) {
      const auto noisy = [&](double x, double weight) {
        return 3 - 0.7 * x + random.Normal() / std::sqrt(weight);
      };
      std::vector<WeightedPoint> points;
      for (const double x : {1.0, 1.0, 1.0, 2.0, 2.0, 5.0, 10.0}) {
        const double weight = even ? 1 : x;
        points.push_back({x, noisy(x, weight), weight});
      }
      const double weight = even ? 1 : 100;
      const Estimate at = Extrapolate(points, 100, weight);
      const double next = noisy(100, weight);
      inside += at.low <= next && next <= at.high;
    }
    EXPECT_NEAR(inside / double{kLines}, 0.95, 0.015);
  }
}

}  // namespace
}  // namespace resmem
