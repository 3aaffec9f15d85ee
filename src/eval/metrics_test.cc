#include "eval/metrics.h"

#include <gtest/gtest.h>

#include <array>

#include "eval/pair_counts.h"

namespace resmem {
namespace {

void AddRow(std::vector<float> probabilities, int32_t label, int64_t answer, MetricSums* sums) {
  sums->Add(probabilities, label, answer, JudgeProbabilities(probabilities, label, answer));
}

TEST(Metrics, AreThoseOfADrawnUpExample) {
  MetricSums sums(3);
  AddRow({0.7f, 0.2f, 0.1f}, 0, 0, &sums);
  AddRow({0.4f, 0.5f, 0.1f}, 0, 1, &sums);
  AddRow({0.3f, 0.6f, 0.1f}, 1, 1, &sums);
  AddRow({0.6f, 0.3f, 0.1f}, 1, 0, &sums);
  const Metrics metrics = sums.Finish();
  // Class 0: positives 0.7, 0.4 against 0.3, 0.6: three of four pairs.  Class 1: positives 0.6, 0.3
  // against 0.2, 0.5: three of four.  Class 2 does not occur.
  ASSERT_TRUE(metrics.auc.has_value());
  EXPECT_DOUBLE_EQ(*metrics.auc, 0.75);
  EXPECT_DOUBLE_EQ(metrics.macro_f1, 0.5);
  EXPECT_DOUBLE_EQ(metrics.balanced_accuracy, 0.5);
  EXPECT_DOUBLE_EQ(metrics.top5, 1);
  EXPECT_LE(metrics.ece_interval.low, metrics.ece_interval.high);
}

TEST(Metrics, EqualProbabilitiesCountAHalfInTheAuc) {
  MetricSums sums(2);
  AddRow({0.5f, 0.5f}, 0, 0, &sums);
  AddRow({0.5f, 0.5f}, 1, 0, &sums);
  EXPECT_DOUBLE_EQ(*sums.Finish().auc, 0.5);
}

TEST(Metrics, ALabelIsAmongTheFirstFiveOrNot) {
  MetricSums sums(7);
  AddRow({0.3f, 0.2f, 0.15f, 0.12f, 0.1f, 0.08f, 0.05f}, 4, 0, &sums);
  AddRow({0.3f, 0.2f, 0.15f, 0.12f, 0.1f, 0.08f, 0.05f}, 5, 0, &sums);
  EXPECT_DOUBLE_EQ(sums.Finish().top5, 0.5);
}

TEST(Metrics, WithOneClassThereIsNoAuc) {
  MetricSums sums(3);
  AddRow({0.7f, 0.2f, 0.1f}, 0, 0, &sums);
  AddRow({0.2f, 0.7f, 0.1f}, 0, 1, &sums);
  const Metrics metrics = sums.Finish();
  EXPECT_FALSE(metrics.auc.has_value());
  EXPECT_DOUBLE_EQ(metrics.balanced_accuracy, 0.5);
}

TEST(Metrics, TheIntervalOfTheEceHoldsIt) {
  MetricSums sums(2);
  for (int i = 0; i < 400; ++i) AddRow({0.8f, 0.2f}, i % 2, 0, &sums);
  const Metrics metrics = sums.Finish();
  EXPECT_NEAR(metrics.ece, 0.3, 1e-6);
  EXPECT_GT(metrics.ece_interval.low, 0.2);
  EXPECT_LT(metrics.ece_interval.low, 0.3);
  EXPECT_GT(metrics.ece_interval.high, 0.3);
  EXPECT_LT(metrics.ece_interval.high, 0.4);
}

TEST(PairCounts, CompareEveryTwo) {
  PairCounts counts(3);
  const double none = std::numeric_limits<double>::quiet_NaN();
  counts.Add(std::array{true, false, true}, std::array{0.5, 1.0, none});
  counts.Add(std::array{false, true, true}, std::array{1.0, 0.25, none});
  counts.Add(std::array{false, true, false}, std::array{2.0, 1.0, none});
  const std::vector<MethodPair> pairs = counts.Finish(std::array<size_t, 3>{0, 2, 5});
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].left, 0u);
  EXPECT_EQ(pairs[0].right, 2u);
  EXPECT_EQ(pairs[0].gain.fixed, 2);
  EXPECT_EQ(pairs[0].gain.harmed, 1);
  ASSERT_TRUE(pairs[0].nll.has_value());
  EXPECT_NEAR(pairs[0].nll->value, (-0.5 + 0.75 + 1) / 3, 1e-12);
  EXPECT_LT(pairs[0].nll->interval.low, pairs[0].nll->value);
  EXPECT_FALSE(pairs[1].nll.has_value());
  EXPECT_EQ(pairs[2].right, 5u);
}

}  // namespace
}  // namespace resmem
