#include "tune/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace resmem {
namespace {

TEST(DefaultGrid, IsTwentyByTwentyByTwentyAroundThePapersValues) {
  const Grid grid = DefaultGrid(3.5, 50000);
  EXPECT_EQ(grid.k.size(), 20u);
  EXPECT_EQ(grid.sigma.size(), 20u);
  EXPECT_EQ(grid.temperature.size(), 20u);
  for (const int64_t k : {10, 20, 27, 53, 500}) {
    EXPECT_TRUE(std::count(grid.k.begin(), grid.k.end(), k)) << k;
  }
  for (const float temperature : {0.1f, 0.4f, 0.6f, 1.0f, 1.4f, 5.0f}) {
    EXPECT_TRUE(std::count(grid.temperature.begin(), grid.temperature.end(), temperature))
        << temperature;
  }
}

TEST(DefaultGrid, ScalesSigmaWithTheDistances) {
  const Grid near = DefaultGrid(1, 1000), far = DefaultGrid(100, 1000);
  EXPECT_FLOAT_EQ(near.sigma.front(), 0.02f);
  EXPECT_FLOAT_EQ(near.sigma.back(), 2);
  EXPECT_FLOAT_EQ(far.sigma.front(), 2);
  EXPECT_FLOAT_EQ(far.sigma.back(), 200);
  EXPECT_TRUE(std::is_sorted(near.sigma.begin(), near.sigma.end()));
}

TEST(DefaultGrid, AsksForNoMoreNeighborsThanThereAreRows) {
  const Grid grid = DefaultGrid(1, 30);
  EXPECT_EQ(grid.k.back(), 30);
  EXPECT_EQ(std::count(grid.k.begin(), grid.k.end(), 30), 1);
}

TEST(DefaultGrid, SigmasAreFiniteAndPositiveForAnyDistance) {
  for (const double distance : {1e-45, 1e-44, 1e-38, 1e37, 2e38, 3.4028234e38}) {
    const Grid grid = DefaultGrid(distance, 1000);
    EXPECT_TRUE(CheckGrid(MemoryDescription(), {{}, grid.sigma, {}}).ok()) << distance;
    EXPECT_TRUE(std::isfinite(1 / grid.sigma.front())) << distance;
  }
}

TEST(DefaultGrid, HasAScaleWhereAllDistancesAreZero) {
  EXPECT_GT(DefaultGrid(0, 10).sigma.front(), 0);
}

TEST(CheckGrid, RefusesImpossibleValues) {
  const MemoryDescription description;
  EXPECT_FALSE(CheckGrid(description, {{0}, {1}, {1}}).ok());
  EXPECT_FALSE(CheckGrid(description, {{1}, {0}, {1}}).ok());
  EXPECT_FALSE(CheckGrid(description, {{1}, {1}, {-1}}).ok());
  EXPECT_FALSE(CheckGrid(description, {{1}, {1}, {1.0f / 0.0f}}).ok());
  EXPECT_TRUE(CheckGrid(description, {{1}, {1}, {1}}).ok());
  EXPECT_TRUE(CheckGrid(description, {}).ok());
}

TEST(CheckGrid, AllowsAFrozenMemoryItsOwnTemperatureOnly) {
  MemoryDescription description;
  description.form = ResidualForm::kDense;
  description.parameters.temperature = 1.4f;
  EXPECT_TRUE(CheckGrid(description, {{}, {}, {1.4f}}).ok());
  const Status status = CheckGrid(description, {{}, {}, {1.0f}});
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.message().find("1.4"), std::string::npos) << status.message();
}

TEST(FillGrid, SortsTheUsersAxesAndFillsTheEmptyOnes) {
  const Grid grid = FillGrid(MemoryDescription(), {{7, 3, 7}, {}, {2, 1}}, 1, 100, 100);
  EXPECT_EQ(grid.k, (std::vector<int64_t>{3, 7}));
  EXPECT_EQ(grid.sigma.size(), 20u);
  EXPECT_EQ(grid.temperature, (std::vector<float>{1, 2}));
}

TEST(FillGrid, FixesTheTemperatureOfAFrozenMemory) {
  MemoryDescription description;
  description.form = ResidualForm::kSparse;
  description.parameters.temperature = 0.6f;
  EXPECT_EQ(FillGrid(description, {}, 1, 100, 100).temperature, (std::vector<float>{0.6f}));
}

TEST(FillGrid, HasNoMoreNeighborsThanWereSearched) {
  const MemoryDescription any;
  EXPECT_EQ(FillGrid(any, {}, 1, 5000, 500).k.back(), 500);
  const Grid wide = FillGrid(any, {}, 1, 5000, kMostTunedK);
  EXPECT_EQ(wide.k.size(), 23u);
  EXPECT_EQ(wide.k.back(), kMostTunedK);
  EXPECT_EQ(FillGrid(any, {}, 1, 700, 700).k.back(), 700);
  EXPECT_EQ(FillGrid(any, {{5}, {}, {}}, 1, 5000, kMostTunedK).k, (std::vector<int64_t>{5}));
}

TEST(EdgeWarning, NamesTheAxesWhoseEndWasChosen) {
  const Grid grid = {{5, 10, 20}, {0.5f, 1, 2}, {1}};
  EXPECT_EQ(EdgeWarning(grid, {10, 1, 1}, 100), "");
  const std::string both = EdgeWarning(grid, {20, 0.5f, 1}, 100);
  EXPECT_NE(both.find("largest k 20"), std::string::npos) << both;
  EXPECT_NE(both.find("smallest sigma 0.5"), std::string::npos) << both;
}

TEST(EdgeWarning, IsSilentWhereNothingLiesBeyond) {
  EXPECT_EQ(EdgeWarning({{1, 10, 20}, {1}, {1}}, {1, 1, 1}, 100), "");  // no k below 1
  EXPECT_EQ(EdgeWarning({{1, 10, 20}, {1}, {1}}, {20, 1, 1}, 20), "");  // no more rows
}

TEST(Grid, GrowsBeyondTheEdgeAtWhichTheBestLies) {
  const Grid start = DefaultGrid(1, 1000);
  Grid grid = start;
  EXPECT_FALSE(ExtendGrid({}, {10, start.sigma[3], start.temperature[4]}, &grid));
  EXPECT_TRUE(ExtendGrid({}, {10, start.sigma.back(), start.temperature[4]}, &grid));
  EXPECT_EQ(grid.sigma.size(), start.sigma.size() + 5);
  EXPECT_GT(grid.sigma.back(), 3 * start.sigma.back());
  EXPECT_EQ(grid.temperature, start.temperature);
  EXPECT_TRUE(ExtendGrid({}, {10, start.sigma[3], start.temperature.front()}, &grid));
  EXPECT_LT(grid.temperature.front(), start.temperature.front());
  // What the user gave stays as it is.
  Grid given;
  given.sigma = start.sigma;
  grid = start;
  EXPECT_FALSE(ExtendGrid(given, {10, start.sigma.back(), start.temperature[4]}, &grid));
}

}  // namespace
}  // namespace resmem
