#include "support/random.h"

#include <gtest/gtest.h>

namespace resmem {
namespace {

TEST(Random, SameSeedGivesSameNumbersAndStreamsDiffer) {
  Random a(7), b(7), c(7, 1);
  const uint64_t first = a.Bits();
  EXPECT_EQ(first, b.Bits());
  EXPECT_NE(first, c.Bits());
}

TEST(Random, MomentsOfUniformAndNormalAreRight) {
  Random random(1);
  double uniform = 0, normal = 0, square = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    uniform += random.Uniform();
    const double x = random.Normal();
    normal += x;
    square += x * x;
  }
  EXPECT_NEAR(uniform / n, 0.5, 0.005);
  EXPECT_NEAR(normal / n, 0.0, 0.01);
  EXPECT_NEAR(square / n, 1.0, 0.02);
}

TEST(Random, BelowStaysBelowAndReachesAll) {
  Random random(3);
  int seen[5] = {};
  for (int i = 0; i < 1000; ++i) {
    const uint64_t x = random.Below(5);
    ASSERT_LT(x, 5u);
    ++seen[x];
  }
  for (int count : seen) EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace resmem
