#include "tune/choice.h"

#include <gtest/gtest.h>

#include <cmath>

namespace resmem {
namespace {

TuningPoint Point(int64_t k, float sigma, float temperature, int64_t fixed, int64_t harmed) {
  return {{k, sigma, temperature}, fixed, harmed, 0};
}

PointSums Sums(int64_t rows) {
  PointSums sums;
  sums.rows = rows;
  return sums;
}

constexpr ChoiceRule kGainRule{Task::kClassification, Objective::kGain, 0.05};
constexpr ChoiceRule kCarefulRule{Task::kClassification, Objective::kTprUnderFpr, 0.05};

TEST(ChoosePoint, TakesTheLargestGain) {
  const std::vector<TuningPoint> points = {Point(1, 1, 1, 10, 2), Point(2, 1, 1, 20, 5),
                                           Point(3, 1, 1, 30, 20)};
  EXPECT_EQ(ChoosePoint(kGainRule, points, Sums(100)), 1u);
}

TEST(ChoosePoint, TakesTheLargestTprWhoseFprIsBelowTheLimit) {
  const std::vector<TuningPoint> points = {Point(1, 1, 1, 10, 2), Point(2, 1, 1, 20, 4),
                                           Point(3, 1, 1, 30, 5)};
  EXPECT_EQ(ChoosePoint(kCarefulRule, points, Sums(100)), 1u);  // 5 of 100 is not below 0.05
  EXPECT_EQ(ChoosePoint(kCarefulRule, points, Sums(101)), 2u);
}

TEST(ChoosePoint, FallsBackToTheBaseWhereNoPointMeetsTheLimit) {
  EXPECT_EQ(ChoosePoint(kCarefulRule, {Point(1, 1, 1, 30, 10)}, Sums(100)), std::nullopt);
}

TEST(ChoosePoint, FallsBackToTheBaseWhereNothingIsGained) {
  EXPECT_EQ(ChoosePoint(kGainRule, {Point(1, 1, 1, 7, 7), Point(2, 1, 1, 3, 9)}, Sums(100)),
            std::nullopt);
}

TEST(RankPoints, BreaksTiesByHarmThenKThenTemperatureThenSigma) {
  const std::vector<TuningPoint> points = {
      Point(5, 1, 1, 12, 2),     // 0: as good as the others, but more harmed
      Point(9, 1, 1, 11, 1),     // 1: larger k
      Point(5, 1, 0.1f, 11, 1),  // 2: T a factor 10 from 1
      Point(5, 1, 5, 11, 1),     // 3: T a factor 5 from 1
      Point(5, 1, 1, 11, 1),     // 4: smaller sigma
      Point(5, 2, 1, 11, 1),     // 5: the winner
  };
  EXPECT_EQ(RankPoints(kGainRule, points, 100), (std::vector<size_t>{5, 4, 3, 2, 1, 0}));
}

TEST(ChoosePoint, TakesTheSmallestLossInRegression) {
  const ChoiceRule rule{Task::kRegression, Objective::kGain, 0.05};
  std::vector<TuningPoint> points = {Point(1, 1, 1, 0, 0), Point(2, 1, 1, 0, 0)};
  points[0].loss = 0.5;
  points[1].loss = 0.25;
  PointSums sums = Sums(10);
  sums.base_squared_error = 10 * 0.4;
  EXPECT_EQ(ChoosePoint(rule, points, sums), 1u);
  sums.base_squared_error = 10 * 0.2;
  EXPECT_EQ(ChoosePoint(rule, points, sums), std::nullopt);
}

TEST(MakePoints, RunsThroughKFastestThenSigmaThenTemperature) {
  const Grid grid = {{1, 2}, {3, 4}, {5, 6}};
  PointSums sums;
  sums.Resize(grid);
  sums.rows = 4;
  sums.fixed[PointIndex(grid, 1, 0, 1)] = 9;
  sums.squared_error[PointIndex(grid, 0, 1, 0)] = 2;
  const std::vector<TuningPoint> points = MakePoints(grid, sums);
  ASSERT_EQ(points.size(), 8u);
  EXPECT_EQ(points[5].parameters.k, 2);
  EXPECT_EQ(points[5].parameters.sigma, 3);
  EXPECT_EQ(points[5].parameters.temperature, 6);
  EXPECT_EQ(points[5].fixed, 9);
  EXPECT_EQ(points[2].loss, 0.5);
}

TEST(RankPoints, LossesThatAreNotFiniteComeLastInAFixedOrder) {
  const ChoiceRule rule{Task::kRegression, Objective::kGain, 0.05};
  std::vector<TuningPoint> points;
  for (int64_t k = 1; k <= 40; ++k) points.push_back(Point(k, 1, 1, 0, 0));
  for (size_t i = 0; i < points.size(); ++i) {
    points[i].loss = i % 3 == 0   ? std::nan("")
                     : i % 3 == 1 ? HUGE_VAL
                                  : 50.0 - static_cast<double>(i);
  }
  const std::vector<size_t> order = RankPoints(rule, points, 10);
  EXPECT_EQ(order[0], 38u);
  EXPECT_EQ(order[12], 2u);
  EXPECT_EQ(order[13], 0u);  // from here by k
  EXPECT_EQ(order[14], 1u);
  EXPECT_EQ(order.back(), 39u);
  for (TuningPoint& point : points) point.loss = std::nan("");
  EXPECT_EQ(ChoosePoint(rule, points, Sums(10)), std::nullopt);
}

TEST(SumsOfOthers, AnOutlierLeavesNoTraceInTheSumsWithoutIt) {
  const Grid grid = {{1}, {1}, {1}};
  std::vector<PointSums> folds(3);
  for (size_t i = 0; i < folds.size(); ++i) {
    folds[i].Resize(grid);
    folds[i].fixed[0] = 3 + static_cast<int64_t>(i);
    folds[i].harmed[0] = 2;
    folds[i].base_right[0] = 7;
    folds[i].squared_error[0] = i == 1 ? 1e300 : 0.5;
    folds[i].base_squared_error = i == 1 ? HUGE_VAL : 4;
    folds[i].rows = 11;
  }
  const std::vector<PointSums> others = SumsOfOthers(grid, folds);
  ASSERT_EQ(others.size(), 3u);
  EXPECT_EQ(others[0].fixed[0], 9);
  EXPECT_EQ(others[1].fixed[0], 8);
  EXPECT_EQ(others[2].fixed[0], 7);
  EXPECT_EQ(others[1].harmed[0], 4);
  EXPECT_EQ(others[1].base_right[0], 14);
  EXPECT_EQ(others[1].rows, 22);
  EXPECT_EQ(others[1].squared_error[0], 1);
  EXPECT_EQ(others[1].base_squared_error, 8);
  EXPECT_EQ(others[0].base_squared_error, HUGE_VAL);
}

}  // namespace
}  // namespace resmem
