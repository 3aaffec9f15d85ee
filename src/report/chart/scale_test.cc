#include "report/chart/scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace resmem {
namespace {

Extent Between(double low, double high) {
  Extent extent;
  extent.Include(low);
  extent.Include(high);
  return extent;
}

TEST(Scale, EndsGoToEnds) {
  const Scale linear(Between(2, 6), 100, 200);
  EXPECT_DOUBLE_EQ(linear(2), 100);
  EXPECT_DOUBLE_EQ(linear(5), 175);
  const Scale logarithmic(Between(1, 100), 0, 10, true);
  EXPECT_DOUBLE_EQ(logarithmic(10), 5);
}

TEST(Scale, TicksAreRoundAndInside) {
  EXPECT_EQ(Scale(Between(0, 10), 0, 1).Ticks(5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(Scale(Between(1, 1000), 0, 1, true).Ticks(5), (std::vector<double>{1, 10, 100, 1000}));
}

TEST(Scale, DegenerateExtentsGiveFinitePlaces) {
  for (const Extent& extent : {Extent(), Between(0, 0), Between(5, 5), Between(-1e-300, 1e-300),
                               Between(-1e100, 1e100), Between(1e99, 1e99)}) {
    for (const bool logarithmic : {false, true}) {
      const Scale scale = Scale::Round(extent, 0, 100, logarithmic);
      EXPECT_TRUE(std::isfinite(scale(extent.low)));
      EXPECT_LT(scale.Ticks(5).size(), 40u);
    }
  }
}

TEST(Scale, LogarithmicFallsBackWhereZeroIsReached) {
  EXPECT_FALSE(Scale(Between(0, 10), 0, 1, true).logarithmic());
}

TEST(Extent, IgnoresWhatIsNotFinite) {
  Extent extent = Between(1, 2);
  extent.Include(std::numeric_limits<double>::infinity());
  extent.Include(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(extent.high, 2);
}

}  // namespace
}  // namespace resmem
