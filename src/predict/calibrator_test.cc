#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "resmem/predictor.h"
#include "support/random.h"

namespace resmem {
namespace {

std::vector<float> Calibrated(std::string_view name, float temperature, std::vector<float> scores) {
  const Status status = ToProbabilities(name, temperature, scores);
  EXPECT_TRUE(status.ok()) << status.message();
  return scores;
}

std::vector<float> RandomScores(Random* random, size_t classes) {
  std::vector<float> scores(classes);
  double sum = 0;
  for (float& score : scores) sum += score = static_cast<float>(random->Normal());
  for (float& score : scores) score += static_cast<float>((1 - sum) / static_cast<double>(classes));
  return scores;
}

TEST(Calibrator, EveryOneGivesProbabilitiesAndKeepsTheAnswer) {
  Random random(5);
  for (std::string_view name : CalibratorNames()) {
    for (size_t classes : {1u, 2u, 10u, 100u}) {
      for (int repeat = 0; repeat < 50; ++repeat) {
        const std::vector<float> scores = RandomScores(&random, classes);
        const std::vector<float> p = Calibrated(name, 1.5f, scores);
        EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-5);
        for (float value : p) EXPECT_GE(value, 0);
        EXPECT_EQ(ArgMax(p), ArgMax(scores)) << name;
      }
    }
  }
}

TEST(Calibrator, ProbabilitiesPassClipAndSimplexUnchanged) {
  const std::vector<float> p = {0.5f, 0.25f, 0.25f};
  EXPECT_EQ(Calibrated("clip", 1, p), p);
  EXPECT_EQ(Calibrated("simplex", 1, p), p);
}

TEST(Calibrator, SimplexIsTheNearestProbabilityVector) {
  Random random(6);
  const std::vector<float> scores = {1.4f, 0.3f, -0.2f, -0.5f};
  const std::vector<float> nearest = Calibrated("simplex", 1, scores);
  const auto distance = [&](const std::vector<float>& p) {
    double sum = 0;
    for (size_t c = 0; c < p.size(); ++c) sum += (p[c] - scores[c]) * (p[c] - scores[c]);
    return sum;
  };
  for (int repeat = 0; repeat < 2000; ++repeat) {
    std::vector<float> other(4);
    for (float& value : other) value = static_cast<float>(-std::log(1 - random.Uniform()));
    const float sum = std::accumulate(other.begin(), other.end(), 0.0f);
    for (float& value : other) value /= sum;
    EXPECT_GE(distance(other), distance(nearest) - 1e-6);
  }
}

TEST(Calibrator, LogTemperatureSharpensBelowOneAndFlattensAbove) {
  const std::vector<float> scores = {0.7f, 0.4f, -0.1f};
  EXPECT_GT(Calibrated("log-temperature", 0.5f, scores)[0],
            Calibrated("log-temperature", 1, scores)[0]);
  EXPECT_LT(Calibrated("log-temperature", 2, scores)[0],
            Calibrated("log-temperature", 1, scores)[0]);
}

TEST(Calibrator, WrongNameTemperatureOrScoreIsRefused) {
  std::vector<float> scores = {0.5f, 0.5f};
  EXPECT_EQ(ToProbabilities("platt", 1, scores).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ToProbabilities("log-temperature", 0, scores).code(), ErrorCode::kInvalidArgument);
  scores[1] = NAN;
  EXPECT_EQ(ToProbabilities("clip", 1, scores).code(), ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
