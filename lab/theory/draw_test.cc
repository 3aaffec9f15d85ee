#include "theory/draw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace resmem {
namespace {

const std::vector<double> kBounds = {0, 0.25, 0.5, 0.9};

std::vector<DrawRisks> Evaluate(const Sample& sample,
                                const std::vector<SimulationSetting>& settings,
                                const std::vector<double>& bounds = kBounds) {
  int64_t k = 1;
  std::vector<TargetMoments> moments;
  for (const SimulationSetting& setting : settings) {
    k = std::max(k, setting.k);
    moments.push_back(ComputeTargetMoments(setting.target, sample.dimension));
  }
  const Result<Neighbors> neighbors = FindNeighbors(sample, std::min(k, sample.n));
  EXPECT_TRUE(neighbors.ok()) << neighbors.status().message();
  return EvaluateDraw(sample, *neighbors, settings, moments, bounds);
}

TEST(Draw, SecondPartIsAtMostTheNeighborsDistanceTimesWhatTheBaseCannotReach) {
  for (int64_t d : {1, 2, 3, 5}) {
    for (int64_t n : {1, 10, 300}) {
      for (int64_t draw = 0; draw < 5; ++draw) {
        const std::vector<DrawRisks> risks = Evaluate(DrawSample(d, n, 50, false, 1, draw), {{}});
        for (size_t b = 0; b < kBounds.size(); ++b) {
          EXPECT_LE(risks[b].t2, std::pow(1 - kBounds[b], 2) * risks[b].z * (1 + 1e-12));
        }
      }
    }
  }
}

TEST(Draw, ResMemNeverExceedsItsDecomposition) {
  SimulationSetting soft, noisy, step;
  soft.k = 5;
  soft.sigma = 0.2;
  noisy.noise = 1;
  noisy.k = 3;
  step.target = SimulationTarget::kStep;
  for (int64_t d : {1, 3}) {
    for (int64_t n : {1, 4, 100}) {
      for (const DrawRisks& risks :
           Evaluate(DrawSample(d, n, 30, true, 3, 0), {{}, soft, noisy, step})) {
        EXPECT_LE(risks.resmem, risks.decomposition);
        EXPECT_FALSE(risks.violated);
      }
    }
  }
}

TEST(Draw, BoundOfZeroMakesResMemPureNearestNeighbors) {
  SimulationSetting many;
  many.k = 4;
  many.noise = 0.3;
  for (const DrawRisks& risks : Evaluate(DrawSample(3, 60, 40, true, 1, 2), {{}, many}, {0.0})) {
    EXPECT_EQ(risks.resmem, risks.knn);
    EXPECT_GT(risks.knn, 0);
    EXPECT_EQ(risks.t1, 0);
  }
}

TEST(Draw, TrainingPointsAreMemorized) {
  Sample sample = DrawSample(3, 40, 40, false, 1, 0);
  sample.test_points = sample.covariates;
  SimulationSetting sine;
  sine.target = SimulationTarget::kSine;
  for (const DrawRisks& risks : Evaluate(sample, {{}, sine})) {
    EXPECT_LT(risks.resmem, 1e-30);
    EXPECT_EQ(risks.z, 0);
  }
}

TEST(Draw, TinySigmaIsTheNearestNeighborAndInfiniteSigmaThePlainMean) {
  const Sample sample = DrawSample(2, 200, 50, false, 1, 0);
  SimulationSetting tiny, huge, mean;
  tiny.k = huge.k = mean.k = 6;
  tiny.sigma = 1e-30;
  huge.sigma = 1e9;
  const std::vector<DrawRisks> risks = Evaluate(sample, {{}, tiny, huge, mean}, {0.5});
  EXPECT_EQ(risks[1].resmem, risks[0].resmem);
  EXPECT_NEAR(risks[2].resmem / risks[3].resmem, 1, 1e-6);
  EXPECT_NE(risks[3].resmem, risks[0].resmem);
}

TEST(Draw, MoreNeighborsThanPointsMeansAllPoints) {
  SimulationSetting all, more;
  all.k = 7;
  more.k = 50;
  const std::vector<DrawRisks> risks = Evaluate(DrawSample(2, 7, 20, false, 1, 0), {all, more});
  for (size_t b = 0; b < kBounds.size(); ++b) {
    EXPECT_EQ(risks[b].resmem, risks[kBounds.size() + b].resmem);
  }
}

TEST(Draw, SampleDoesNotDependOnWhetherNoiseIsDrawn) {
  const Sample quiet = DrawSample(3, 20, 10, false, 9, 1);
  const Sample noisy = DrawSample(3, 20, 10, true, 9, 1);
  EXPECT_EQ(quiet.covariates, noisy.covariates);
  EXPECT_EQ(quiet.test_points, noisy.test_points);
  EXPECT_NE(quiet.covariates, DrawSample(3, 20, 10, false, 9, 2).covariates);
  EXPECT_NE(quiet.covariates, DrawSample(3, 20, 10, false, 8, 1).covariates);
}

}  // namespace
}  // namespace resmem
