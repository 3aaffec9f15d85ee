#include "report/numbers.h"

#include <gtest/gtest.h>

#include <limits>

namespace resmem {
namespace {

TEST(Numbers, APageHasARealMinusSignAndNarrowSpaces) {
  EXPECT_EQ(Grouped(-1234), "\u22121,234");
  EXPECT_EQ(Signed(-0.5, 1), "\u22120.5");
  EXPECT_EQ(Short(-1.5e-7), "\u22121.5e\u221207");
  EXPECT_EQ(Percent(0.5966), "59.66\u202f%");
  EXPECT_EQ(Bytes(15203512), "15.2\u202fMB");
  EXPECT_EQ(Duration(83.25), "1\u202fmin 23\u202fs");
  EXPECT_EQ(Typeset("< 1e-6"), "< 1e\u22126");
  EXPECT_EQ(Typeset("2026-11-18"), "2026-11-18");
}

TEST(Numbers, CoordinatesAreShortAndFinite) {
  EXPECT_EQ(Coordinate(12.0), "12");
  EXPECT_EQ(Coordinate(0.125), "0.12");
  EXPECT_EQ(Coordinate(-0.001), "0");
  EXPECT_EQ(Coordinate(-1.5), "-1.5");
  EXPECT_EQ(Coordinate(std::numeric_limits<double>::quiet_NaN()), "0");
  EXPECT_EQ(Coordinate(1e300), "1000000");
}

}  // namespace
}  // namespace resmem
