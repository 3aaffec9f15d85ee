#include "theory/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random.h"

namespace resmem {
namespace {

const std::vector<int64_t> kSizes = {10, 100, 1000, 10000};

std::vector<Estimate> PowerLaw(double slope, double relative_error) {
  std::vector<Estimate> values;
  for (int64_t n : kSizes) {
    const double mean = 3 * std::pow(static_cast<double>(n), slope);
    values.push_back({mean, relative_error * mean});
  }
  return values;
}

TEST(MeanWithError, MatchesValuesByHand) {
  const std::vector<double> values = {1, 2, 3, 6};
  const Estimate estimate = MeanWithError(values);
  EXPECT_DOUBLE_EQ(estimate.mean, 3);
  EXPECT_DOUBLE_EQ(estimate.error, std::sqrt(14.0 / 3 / 4));
}

TEST(LogLogSlope, FindsTheExponentOfAPowerLaw) {
  const auto slope = LogLogSlope(kSizes, PowerLaw(-0.4, 0.1));
  ASSERT_TRUE(slope.has_value());
  EXPECT_NEAR(slope->value, -0.4, 1e-12);
  const auto exact = LogLogSlope(kSizes, PowerLaw(-0.4, 0));
  ASSERT_TRUE(exact.has_value());
  EXPECT_NEAR(exact->value, -0.4, 1e-12);
  EXPECT_NEAR(exact->error, 0, 1e-12);
}

TEST(LogLogSlope, ErrorCoversTheTruthAsOftenAsItShould) {
  Random random(4);
  int covered = 0;
  const int rounds = 1000;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Estimate> values = PowerLaw(-1, 0.05);
    for (Estimate& value : values) value.mean *= 1 + 0.05 * random.Normal();
    const auto slope = LogLogSlope(kSizes, values);
    ASSERT_TRUE(slope.has_value());
    covered += std::abs(slope->value + 1) < 2 * slope->error ? 1 : 0;
  }
  EXPECT_GT(covered, 0.93 * rounds);
  EXPECT_LT(covered, 0.995 * rounds);
}

TEST(LogLogSlope, ErrorGrowsWherePointsAreNotOnALine) {
  std::vector<Estimate> bent = PowerLaw(-1, 0.01);
  bent[1].mean *= 2;
  EXPECT_GT(LogLogSlope(kSizes, bent)->error, 10 * LogLogSlope(kSizes, PowerLaw(-1, 0.01))->error);
}

TEST(LogLogSlope, RoundingAndSinglePointsHaveNoSlope) {
  EXPECT_FALSE(LogLogSlope(kSizes, std::vector<Estimate>(4, {1e-32, 1e-33})).has_value());
  EXPECT_FALSE(LogLogSlope(kSizes, std::vector<Estimate>(4, {0, 0})).has_value());
  const std::vector<int64_t> one = {10};
  EXPECT_FALSE(LogLogSlope(one, std::vector<Estimate>(1, {1, 0.1})).has_value());
}

// Points of a rival whose risk is constant and a ResMem of risk scale / n.
std::vector<SimulationPoint> Points(double rival, double scale) {
  std::vector<SimulationPoint> points;
  for (int64_t n : kSizes) {
    SimulationPoint point;
    point.n = n;
    point.base = {rival, 0};
    point.resmem = {scale / static_cast<double>(n), 0};
    point.base_minus_resmem = {point.base.mean - point.resmem.mean, 1e-9};
    points.push_back(point);
  }
  return points;
}

Crossover AgainstBase(const std::vector<SimulationPoint>& points) {
  return FindCrossover(points, &SimulationPoint::base, &SimulationPoint::base_minus_resmem);
}

TEST(FindCrossover, InterpolatesWhereTheCurvesCross) {
  const Crossover crossover = AgainstBase(Points(1, 250));
  EXPECT_TRUE(crossover.decided);
  EXPECT_TRUE(crossover.resmem_wins);
  EXPECT_FALSE(crossover.from_start);
  EXPECT_NEAR(crossover.from, 250, 1e-6);
}

TEST(FindCrossover, TellsAlwaysNeverAndTieApart) {
  const Crossover always = AgainstBase(Points(1, 1));
  EXPECT_TRUE(always.decided && always.resmem_wins && always.from_start);
  const Crossover never = AgainstBase(Points(1e-9, 1));
  EXPECT_TRUE(never.decided && never.from_start);
  EXPECT_FALSE(never.resmem_wins);
  std::vector<SimulationPoint> close = Points(1, 1);
  close.back().base_minus_resmem = {0.1, 0.06};
  EXPECT_FALSE(AgainstBase(close).decided);
}

}  // namespace
}  // namespace resmem
