#include "theory/simulation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace resmem {
namespace {

SimulationOptions Small() {
  SimulationOptions options;
  options.dimensions = {2};
  options.bounds = {0.5};
  options.samples = {10, 30, 100};
  options.settings = {SimulationSetting()};
  options.draws = 4;
  options.tests = 50;
  return options;
}

SimulationResult Simulate(const SimulationOptions& options) {
  Result<SimulationResult> result = RunSimulation(options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(result).value();
}

TEST(Simulation, NearestDistanceInOneDimensionMatchesItsExactExpectation) {
  SimulationOptions options = Small();
  options.dimensions = {1};
  options.samples = {1, 2, 5, 20, 200};
  options.draws = 400;
  const SimulationResult result = Simulate(options);
  for (const SimulationPoint& point : result.curves[0].points) {
    // Uniform on [-sqrt 3, sqrt 3], ends included; derived in docs/theory.md.
    const auto n = static_cast<double>(point.n);
    const double expected = 6 * (n + 7) / ((n + 1) * (n + 2) * (n + 3));
    EXPECT_NEAR(point.z.mean, expected, 4 * point.z.error) << point.n;
    EXPECT_LT(point.z.error, 0.1 * expected);
  }
}

TEST(Simulation, NearestNeighborRiskIsTheMeanDistanceOverTheDimension) {
  // E (x - x_nn)(x - x_nn)^T is a multiple of I: the ball has no preferred direction.
  SimulationOptions options = Small();
  options.dimensions = {2, 4};
  options.samples = {50};
  options.draws = 300;
  for (const SimulationCurve& curve : Simulate(options).curves) {
    const SimulationPoint& point = curve.points[0];
    EXPECT_NEAR(point.knn.mean, point.z.mean / static_cast<double>(curve.dimension),
                4 * point.knn.error);
    EXPECT_LT(point.knn.error, 0.05 * point.knn.mean);
  }
}

TEST(Simulation, RisksTendToTheirLimits) {
  SimulationOptions options = Small();
  options.dimensions = {1, 3};
  options.bounds = {0.25, 0.9};
  options.samples = {3000};
  options.draws = 30;
  options.tests = 200;
  SimulationSetting sine;
  sine.target = SimulationTarget::kSine;
  options.settings.push_back(sine);
  for (const SimulationCurve& curve : Simulate(options).curves) {
    if (curve.setting == sine) {
      const SimulationPoint& point = curve.points[0];
      EXPECT_NEAR(point.base.mean, curve.plateau, 4 * point.base.error + 0.01);
      EXPECT_GT(curve.ratio_limit, 1.01);
      EXPECT_NEAR(point.resmem.mean / point.knn.mean, curve.ratio_limit, 0.05);
      continue;
    }
    const double rest = (1 - curve.bound) * (1 - curve.bound);
    const SimulationPoint& point = curve.points[0];
    EXPECT_NEAR(curve.plateau, rest, 1e-12);
    EXPECT_NEAR(point.base.mean, rest, 4 * point.base.error + 0.002 * rest);
    EXPECT_NEAR(point.resmem.mean / point.knn.mean, rest, 0.01 * rest);
  }
}

TEST(Simulation, InequalityHoldsInEveryDrawAndSlopesAreSteeperThanProved) {
  SimulationOptions options = Small();
  options.dimensions = {2, 3};
  options.samples = {10, 100, 300, 1000, 3000};
  options.settings = DefaultSimulationSettings();
  options.draws = 12;
  options.tests = 100;
  const SimulationResult result = Simulate(options);
  EXPECT_EQ(result.violations, 0);
  EXPECT_LT(result.kkt_residual, 1e-13);
  EXPECT_EQ(result.fit_from, 173);
  for (const SimulationCurve& curve : result.curves) {
    if (curve.setting != SimulationSetting()) continue;
    ASSERT_TRUE(curve.slopes.t2 && curve.slopes.t1 && curve.slopes.resmem);
    EXPECT_NEAR(curve.slopes.t2->value, -2.0 / static_cast<double>(curve.dimension), 0.15);
    EXPECT_LT(curve.slopes.t2->value, curve.slopes.proved_t2);
    EXPECT_LT(curve.slopes.t1->value - 2 * curve.slopes.t1->error, curve.slopes.proved_t1);
    EXPECT_TRUE(curve.against_labels.decided && curve.against_labels.resmem_wins);
  }
}

TEST(Simulation, NoiseAboveWhatTheBaseMissesMakesMemorizingALoss) {
  // One noisy neighbor costs noise^2; the base alone costs (1-L)^2.
  SimulationOptions options = Small();
  options.bounds = {0.25, 0.9};
  options.samples = {100, 1000};
  options.settings[0].noise = 0.5;
  options.draws = 10;
  const SimulationResult result = Simulate(options);
  EXPECT_TRUE(result.curves[0].against_base.decided);
  EXPECT_TRUE(result.curves[0].against_base.resmem_wins);
  EXPECT_TRUE(result.curves[1].against_base.decided);
  EXPECT_FALSE(result.curves[1].against_base.resmem_wins);
}

TEST(Simulation, SameBitsForAnyThreadCount) {
  SimulationOptions options = Small();
  options.dimensions = {1, 3};
  options.settings = DefaultSimulationSettings();
  options.threads = 1;
  const std::string one = SimulationCsv(Simulate(options));
  for (int threads : {2, 3}) {
    options.threads = threads;
    EXPECT_EQ(SimulationCsv(Simulate(options)), one) << threads;
  }
  options.seed = 2;
  EXPECT_NE(SimulationCsv(Simulate(options)), one);
}

TEST(Simulation, APointDoesNotDependOnTheRestOfTheRun) {
  SimulationOptions many = Small();
  many.dimensions = {1, 2};
  many.bounds = {0.1, 0.5};
  many.settings = DefaultSimulationSettings();
  const SimulationPoint a = Simulate(many).curves[3].points[1];
  SimulationOptions single = Small();
  single.samples = {30};
  const SimulationPoint b = Simulate(single).curves[0].points[0];
  EXPECT_EQ(a.resmem.mean, b.resmem.mean);
  EXPECT_EQ(a.resmem.error, b.resmem.error);
  EXPECT_EQ(a.base.mean, b.base.mean);
}

class Recorder final : public Progress {
 public:
  explicit Recorder(int64_t cancel_after) : cancel_after_(cancel_after) {}
  void Report(std::string_view, int64_t done, int64_t total) override {
    EXPECT_EQ(done, ++reports_);
    EXPECT_EQ(total, 12);
  }
  bool Cancelled() const override { return reports_ >= cancel_after_; }
  int64_t reports() const { return reports_; }

 private:
  int64_t cancel_after_;
  int64_t reports_ = 0;
};

TEST(Simulation, ReportsEveryDrawAndStopsWhenAsked) {
  SimulationOptions options = Small();
  Recorder all(1000);
  options.progress = &all;
  EXPECT_TRUE(RunSimulation(options).ok());
  EXPECT_EQ(all.reports(), 12);
  Recorder some(3);
  options.progress = &some;
  options.threads = 1;
  EXPECT_EQ(RunSimulation(options).status().code(), ErrorCode::kCancelled);
  EXPECT_EQ(some.reports(), 3);
}

TEST(Simulation, LogarithmicStepsIncludeBothEnds) {
  EXPECT_EQ(LogarithmicSteps(10, 1000, 1), (std::vector<int64_t>{10, 100, 1000}));
  EXPECT_EQ(LogarithmicSteps(10, 1000, 2), (std::vector<int64_t>{10, 32, 100, 316, 1000}));
  EXPECT_EQ(LogarithmicSteps(10, 500, 1), (std::vector<int64_t>{10, 100, 500}));
  EXPECT_EQ(LogarithmicSteps(7, 7, 3), (std::vector<int64_t>{7}));
  EXPECT_EQ(LogarithmicSteps(1, 3, 20), (std::vector<int64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace resmem
