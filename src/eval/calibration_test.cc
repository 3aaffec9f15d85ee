#include "eval/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace resmem {
namespace {

Calibration Judge(const std::vector<std::vector<float>>& rows, const std::vector<int32_t>& labels,
                  const std::vector<int64_t>& answers) {
  CalibrationSum sum;
  for (size_t i = 0; i < rows.size(); ++i) {
    sum.Add(JudgeProbabilities(rows[i], labels[i], answers[i]));
  }
  return sum.Finish();
}

TEST(Calibration, IsPerfectForCertainAndRightAnswers) {
  const Calibration result = Judge({{1, 0}, {0, 1}}, {0, 1}, {0, 1});
  EXPECT_EQ(result.nll, 0);
  EXPECT_EQ(result.brier, 0);
  EXPECT_EQ(result.ece, 0);
  EXPECT_EQ(result.bins[14].count, 2);
}

TEST(Calibration, MatchesAWorkedExample) {
  const Calibration result = Judge({{0.5f, 0.25f, 0.25f}, {0.5f, 0.5f, 0.0f}}, {0, 1}, {0, 0});
  EXPECT_DOUBLE_EQ(result.nll, std::log(2.0));
  EXPECT_DOUBLE_EQ(result.brier, (0.25 + 0.0625 + 0.0625 + 0.25 + 0.25) / 2);
  // Both confidences are 0.5: bin (7/15, 8/15], accuracy 1/2.
  EXPECT_EQ(result.bins[7].count, 2);
  EXPECT_EQ(result.bins[7].accuracy, 0.5);
  EXPECT_EQ(result.bins[7].confidence, 0.5);
  EXPECT_EQ(result.ece, 0);
}

TEST(Calibration, ErrorWeighsBinsByTheirRows) {
  // Three rows at 0.9, one of them right; one row at 0.6, right.
  const Calibration result =
      Judge({{0.9f, 0.1f}, {0.9f, 0.1f}, {0.9f, 0.1f}, {0.6f, 0.4f}}, {0, 1, 1, 0}, {0, 0, 0, 0});
  const double first = std::abs(1.0 / 3 - static_cast<double>(0.9f));
  const double second = std::abs(1.0 - static_cast<double>(0.6f));
  EXPECT_NEAR(result.ece, 0.75 * first + 0.25 * second, 1e-12);
}

TEST(Calibration, ConfidenceOneBelongsToTheLastBinAndOneHalfToTheMiddleOne) {
  const Calibration result = Judge({{0.5f, 0.5f}, {1.0f, 0.0f}}, {0, 0}, {0, 0});
  EXPECT_EQ(result.bins[7].count, 1);
  EXPECT_EQ(result.bins[14].count, 1);
}

TEST(Calibration, CountsZeroProbabilitiesAndKeepsTheMeanFinite) {
  const Calibration result = Judge({{1, 0}}, {1}, {0});
  EXPECT_EQ(result.floored, 1);
  EXPECT_DOUBLE_EQ(result.nll, 23 * std::log(2.0));
  EXPECT_EQ(result.brier, 2);
  EXPECT_EQ(result.ece, 1);
}

TEST(Calibration, IsZeroWithoutRows) {
  const Calibration result = CalibrationSum().Finish();
  EXPECT_EQ(result.nll, 0);
  EXPECT_EQ(result.ece, 0);
}

}  // namespace
}  // namespace resmem
