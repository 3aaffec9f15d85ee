#include <gtest/gtest.h>

#include <algorithm>

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
