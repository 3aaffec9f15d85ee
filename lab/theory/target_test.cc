#include "theory/target.h"

#include <gtest/gtest.h>

#include <cmath>

namespace resmem {
namespace {

TEST(Target, LinearMomentsAreOneAndThePlateauIsThePapers) {
  for (int64_t d : {1, 2, 3, 5, 50}) {
    const TargetMoments moments = ComputeTargetMoments(SimulationTarget::kLinear, d);
    EXPECT_NEAR(moments.slope, 1, 1e-12) << d;
    EXPECT_NEAR(moments.square, 1, 1e-12) << d;
    for (double bound : {0.0, 0.25, 0.9}) {
      EXPECT_NEAR(Plateau(moments, bound), (1 - bound) * (1 - bound), 1e-12);
    }
  }
}

TEST(Target, QuadraticHasNoLinearPart) {
  for (int64_t d : {1, 2, 3, 7}) {
    const TargetMoments moments = ComputeTargetMoments(SimulationTarget::kQuadratic, d);
    EXPECT_NEAR(moments.slope, 0, 1e-12);
    // E u^4 = 3 (d + 2) / (d + 4) for a uniform point of the ball of radius sqrt(d + 2).
    const auto size = static_cast<double>(d);
    EXPECT_NEAR(moments.square, 3 * (size + 2) / (size + 4) - 1, 1e-12) << d;
    EXPECT_NEAR(Plateau(moments, 0.5), moments.square, 1e-12);
  }
}

TEST(Target, SineInOneDimensionMatchesItsIntegral) {
  // u is uniform on [-a, a], a = sqrt(3).
  const double a = std::sqrt(3.0);
  const TargetMoments moments = ComputeTargetMoments(SimulationTarget::kSine, 1);
  EXPECT_NEAR(moments.slope, (std::sin(2 * a) / 4 - a * std::cos(2 * a) / 2) / a, 1e-12);
  EXPECT_NEAR(moments.square, 0.5 - std::sin(4 * a) / (8 * a), 1e-12);
}

TEST(Target, StepInOneDimensionHasTheSlopeOfTheMeanOfItsAbsoluteValue) {
  const TargetMoments moments = ComputeTargetMoments(SimulationTarget::kStep, 1);
  EXPECT_NEAR(moments.slope, std::sqrt(3.0) / 2, 1e-12);
  EXPECT_NEAR(moments.square, 1, 1e-12);
}

TEST(Target, RatioLimitIsThePapersForLinearAndNeverHelpsWhereTheBaseLearnsNothing) {
  for (int64_t d : {1, 4}) {
    for (double bound : {0.0, 0.3, 0.9}) {
      const auto ratio = [&](SimulationTarget target) {
        return RatioLimit(ComputeTargetMoments(target, d), bound);
      };
      EXPECT_NEAR(ratio(SimulationTarget::kLinear), (1 - bound) * (1 - bound), 1e-12);
      EXPECT_NEAR(ratio(SimulationTarget::kQuadratic), 1, 1e-12);
      EXPECT_EQ(ratio(SimulationTarget::kStep), 1);
    }
  }
}

TEST(Target, SineInOneDimensionIsMadeSteeperByItsBestLine) {
  const double a = std::sqrt(3.0);
  const double mean = std::sin(2 * a) / a;              // E 2 cos(2u)
  const double square = 2 + std::sin(4 * a) / (2 * a);  // E 4 cos(2u)^2
  const TargetMoments moments = ComputeTargetMoments(SimulationTarget::kSine, 1);
  EXPECT_NEAR(RatioLimit(moments, 0.25), (square - 2 * 0.25 * mean + 0.0625) / square, 1e-12);
  EXPECT_GT(RatioLimit(moments, 0.25), 1);
}

TEST(Target, NamesAreReadBackAndOthersRefused) {
  for (SimulationTarget target : {SimulationTarget::kLinear, SimulationTarget::kSine,
                                  SimulationTarget::kQuadratic, SimulationTarget::kStep}) {
    const Result<SimulationTarget> parsed = ParseSimulationTarget(SimulationTargetName(target));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, target);
  }
  const Result<SimulationTarget> wrong = ParseSimulationTarget("cubic");
  EXPECT_EQ(wrong.status().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(wrong.status().message().find("\"cubic\""), std::string::npos);
}

}  // namespace
}  // namespace resmem
