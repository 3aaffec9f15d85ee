#include "report/numbers.h"

#include <gtest/gtest.h>

#include <limits>

namespace resmem {
namespace {

TEST(Numbers, CountsAreGroupedByThree) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(12345678), "12,345,678");
  EXPECT_EQ(Grouped(-1234), "\u22121,234");
}

TEST(Numbers, WhatRoundsToZeroHasNoSign) {
  EXPECT_EQ(Fixed(-0.0001, 2), "0.00");
  EXPECT_EQ(Signed(0.0001, 2), "0.00");
  EXPECT_EQ(Signed(-0.5, 1), "\u22120.5");
  EXPECT_EQ(Points(0.0211), "+2.11");
}

TEST(Numbers, HugeValuesFit) {
  EXPECT_EQ(Fixed(1e308, 2).size(), 309u + 3u);
  EXPECT_EQ(Duration(std::numeric_limits<double>::infinity()), "unknown");
}

TEST(Numbers, CoordinatesAreShortAndFinite) {
  EXPECT_EQ(Coordinate(12.0), "12");
  EXPECT_EQ(Coordinate(0.125), "0.12");
  EXPECT_EQ(Coordinate(-0.001), "0");
  EXPECT_EQ(Coordinate(std::numeric_limits<double>::quiet_NaN()), "0");
  EXPECT_EQ(Coordinate(1e300), "1000000");
}

TEST(Numbers, UnitsSuitTheSize) {
  EXPECT_EQ(Bytes(999), "999\u202fbytes");
  EXPECT_EQ(Bytes(15203512), "15.2\u202fMB");
  EXPECT_EQ(Duration(83.25), "1 min 23 s");
  EXPECT_EQ(Duration(7322), "2 h 2 min");
  EXPECT_EQ(PValue(1e-9), "< 0.0001");
  EXPECT_EQ(PValue(0.0341), "0.034");
}

}  // namespace
}  // namespace resmem
