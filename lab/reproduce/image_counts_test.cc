#include "reproduce/image_counts.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace resmem::cli::reproduce {
namespace {

// Classes 0 and 1 are one superclass, 2 and 3 another.
constexpr int32_t kCoarse[] = {0, 0, 1, 1};

RowResult Row(int32_t label, int32_t base, int32_t resmem) {
  RowResult row;
  row.label = label;
  row.base = base;
  row.resmem = resmem;
  return row;
}

TEST(ImageCounts, ErrorsAreCountedByFixedAndBySuperclass) {
  const std::vector<RowResult> rows = {
      Row(0, 0, 1),  // no error of the base
      Row(0, 1, 0),  // fixed, same
      Row(2, 0, 2),  // fixed, another
      Row(3, 2, 2),  // not fixed, same
      Row(3, 1, 0),  // not fixed, another
  };
  std::vector<ImageCounts> counts;
  AddAnswers(rows, kCoarse, &counts);
  AddAnswers(rows, kCoarse, &counts);  // a second network, the same answers
  ASSERT_EQ(counts.size(), 5u);
  EXPECT_EQ(counts[0].fixed + counts[0].other, 0);
  EXPECT_EQ(counts[1].fixed_same, 2);
  const PooledDifference pooled = Pool(counts, 0, 1);
  EXPECT_EQ(pooled.total.fixed, 4);
  EXPECT_EQ(pooled.total.fixed_same, 2);
  EXPECT_EQ(pooled.total.other, 4);
  EXPECT_EQ(pooled.total.other_same, 2);
  EXPECT_EQ(pooled.difference, 0);
}

std::vector<ImageCounts> Draw(int64_t networks) {
  std::vector<ImageCounts> counts;
  Random random(7, 0);
  for (int i = 0; i < 2000; ++i) {
    const bool fixed = random.Below(5) == 0, same = random.Below(fixed ? 2 : 3) == 0;
    counts.push_back({fixed ? networks : 0, fixed && same ? networks : 0, fixed ? 0 : networks,
                      !fixed && same ? networks : 0});
  }
  return counts;
}

TEST(ImageCounts, NetworksThatAgreeAreWorthOne) {
  const PooledDifference one = Pool(Draw(1), 400, 3), five = Pool(Draw(5), 400, 3);
  EXPECT_NEAR(one.difference, 1.0 / 2 - 1.0 / 3, 0.06);
  EXPECT_DOUBLE_EQ(one.difference, five.difference);
  EXPECT_DOUBLE_EQ(one.interval.low, five.interval.low);
  EXPECT_DOUBLE_EQ(one.interval.high, five.interval.high);
  // As wide as two shares of 400 and 1,600 errors make it.
  EXPECT_NEAR(one.interval.high - one.interval.low, 2 * 1.96 * 0.0277, 0.02);
}

TEST(ImageCounts, WithoutErrorsThereIsNoDifference) {
  EXPECT_EQ(Pool({}, 10, 1).difference, 0);
  const std::vector<ImageCounts> only_fixed = {{3, 1, 0, 0}};
  EXPECT_EQ(Pool(only_fixed, 10, 1).difference, 0);
}

}  // namespace
}  // namespace resmem::cli::reproduce
