#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "recipe/train_recipe.h"

namespace resmem {
namespace {

TrainSplit Draw(int64_t learn, int64_t held_out, uint64_t seed) {
  TrainRecipe recipe;
  recipe.rows = learn;
  recipe.validation_rows = held_out;
  recipe.seed = seed;
  Result<TrainSplit> split = DrawTrainSplit(recipe, 1000);
  EXPECT_TRUE(split.ok());
  return *split;
}

TEST(TrainSplit, EveryRowHasOneUse) {
  const TrainSplit split = Draw(0, 100, 1);
  std::vector<int64_t> all = split.train;
  all.insert(all.end(), split.validation.begin(), split.validation.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 1000u);
  for (int64_t row = 0; row < 1000; ++row) EXPECT_EQ(all[static_cast<size_t>(row)], row);
  EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
}

TEST(TrainSplit, FewerRowsArePartOfMoreAndLeaveTheHeldOutAlone) {
  const TrainSplit small = Draw(90, 100, 1), large = Draw(900, 100, 1);
  EXPECT_EQ(small.validation, large.validation);
  EXPECT_EQ(small.train.size(), 90u);
  EXPECT_TRUE(std::includes(large.train.begin(), large.train.end(), small.train.begin(),
                            small.train.end()));
}

TEST(TrainSplit, AnotherSeedDrawsOtherRows) {
  EXPECT_NE(Draw(0, 100, 1).validation, Draw(0, 100, 2).validation);
}

// Of 1,000 rows, where class 0 has half of them, class 9 five, and 1 to 8 share the others.
std::vector<int32_t> UnevenLabels() {
  std::vector<int32_t> labels(1000, 0);
  for (size_t i = 0; i < 495; ++i) labels[2 * i] = 1 + static_cast<int32_t>(i % 8);
  for (size_t i = 990; i < 995; ++i) labels[i] = 9;
  return labels;
}

std::vector<int64_t> CountByClass(const std::vector<int64_t>& rows) {
  const std::vector<int32_t> labels = UnevenLabels();
  std::vector<int64_t> counts(10);
  for (const int64_t row : rows) ++counts[static_cast<size_t>(labels[static_cast<size_t>(row)])];
  return counts;
}

TrainSplit DrawBalanced(int64_t learn) {
  TrainRecipe recipe;
  recipe.rows = learn;
  recipe.validation_rows = 100;
  recipe.balanced = true;
  Result<TrainSplit> split = DrawTrainSplit(recipe, UnevenLabels());
  EXPECT_TRUE(split.ok());
  return *split;
}

TEST(TrainSplit, BalancedRowsAreTheSameNumberOfEachClass) {
  const std::vector<int64_t> counts = CountByClass(DrawBalanced(93).train);
  // Class 9 gives the five that it has at most; the others differ by one at most.
  EXPECT_LE(counts[9], 5);
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end() - 1);
  EXPECT_LE(*most - *least, 1);
  EXPECT_GE(*least, 9);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}), 93);
}

TEST(TrainSplit, BalancedRowsAreNestedAndHoldTheSameRowsOut) {
  const TrainSplit small = DrawBalanced(90), large = DrawBalanced(600);
  EXPECT_EQ(small.validation, Draw(90, 100, 1).validation);
  EXPECT_EQ(large.validation, small.validation);
  EXPECT_TRUE(std::includes(large.train.begin(), large.train.end(), small.train.begin(),
                            small.train.end()));
  EXPECT_EQ(DrawBalanced(900).train, Draw(900, 100, 1).train);
}

TEST(TrainSplit, LabelsDoNotMatterWhereRowsAreNotBalanced) {
  TrainRecipe recipe;
  recipe.rows = 90;
  recipe.validation_rows = 100;
  Result<TrainSplit> split = DrawTrainSplit(recipe, UnevenLabels());
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->train, Draw(90, 100, 1).train);
}

TEST(TrainSplit, MoreThanThereAreIsRefused) {
  TrainRecipe recipe;
  recipe.rows = 901;
  recipe.validation_rows = 100;
  EXPECT_EQ(DrawTrainSplit(recipe, 1000).status().code(), ErrorCode::kInvalidArgument);
  recipe.rows = INT64_MAX;
  recipe.validation_rows = INT64_MAX;
  EXPECT_EQ(DrawTrainSplit(recipe, 1000).status().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace resmem
