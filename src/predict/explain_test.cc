#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fixtures/small_memory.h"
#include "resmem/predictor.h"

namespace resmem {
namespace {

using namespace fixtures;

class ExplainTest : public testing::Test {
 protected:
  void SetUp() override { Write(folder_ / "m", Describe(train_, {9, 1.0f, 1.2f}), train_.view()); }

  TemporaryFolder folder_;
  Problem train_ = MakeProblem(200, 4, 6, 1);
  Problem queries_ = MakeProblem(60, 4, 6, 2);
};

TEST_F(ExplainTest, LedgerSumsExactlyToTheScore) {
  const ResidualMemory memory = Open(folder_ / "m");
  const Predictor predictor(memory);
  for (int64_t q = 0; q < queries_.rows; ++q) {
    const Rows row = queries_.view().Slice(q, 1);
    auto explanation = Explain(predictor, row.keys.row_span(0), row.logits.row_span(0),
                               predictor.DefaultOptions());
    ASSERT_TRUE(explanation.ok()) << explanation.status().message();
    std::vector<float> score(6);
    ASSERT_TRUE(predictor.Predict(row.keys, row.logits, predictor.DefaultOptions(), score).ok());
    EXPECT_EQ(explanation->score, score);
    ASSERT_EQ(explanation->lines.size(), 9u);
    double weights = 0;
    for (const Explanation::Line& line : explanation->lines) weights += line.weight;
    EXPECT_NEAR(weights, 1, 1e-12);
    for (size_t c = 0; c < 6; ++c) {
      double sum = explanation->base[c] + explanation->rounding[c];
      for (const Explanation::Line& line : explanation->lines) sum += line.contribution[c];
      EXPECT_NEAR(sum, score[c], 1e-14);
      EXPECT_LT(std::fabs(explanation->rounding[c]), 1e-6);
    }
  }
}

TEST_F(ExplainTest, RemovingTheFlipSetChangesTheAnswer) {
  const ResidualMemory memory = Open(folder_ / "m");
  const Predictor predictor(memory);
  int64_t flipped = 0;
  for (int64_t q = 0; q < queries_.rows; ++q) {
    const Rows row = queries_.view().Slice(q, 1);
    auto explanation = Explain(predictor, row.keys.row_span(0), row.logits.row_span(0),
                               predictor.DefaultOptions());
    ASSERT_TRUE(explanation.ok());
    if (explanation->base_prediction != explanation->prediction) {
      EXPECT_FALSE(explanation->flip_set.empty());  // without any line the base's answer is back
    }
    if (explanation->flip_set.empty()) continue;
    ++flipped;
    std::vector<bool> removed(explanation->lines.size());
    for (int64_t line : explanation->flip_set) removed[static_cast<size_t>(line)] = true;
    std::vector<double> score = explanation->base;
    double left = 0;
    for (size_t i = 0; i < removed.size(); ++i)
      left += removed[i] ? 0 : explanation->lines[i].weight;
    for (size_t i = 0; i < removed.size(); ++i) {
      for (size_t c = 0; c < score.size() && !removed[i]; ++c)
        score[c] += explanation->lines[i].contribution[c] / left;
    }
    EXPECT_NE(std::max_element(score.begin(), score.end()) - score.begin(),
              explanation->prediction);
  }
  EXPECT_GT(flipped, 5);
}

TEST_F(ExplainTest, FlipSetHoldsWhereOneNeighborHasAllTheWeight) {
  const ResidualMemory memory = Open(folder_ / "m");
  const Predictor predictor(memory);
  PredictOptions options = predictor.DefaultOptions();
  options.parameters.sigma = 1e-3f;  // the second neighbor's weight is 0 in float32
  int64_t checked = 0;
  for (int64_t q = 0; q < queries_.rows; ++q) {
    const Rows row = queries_.view().Slice(q, 1);
    auto with = Explain(predictor, row.keys.row_span(0), row.logits.row_span(0), options);
    ASSERT_TRUE(with.ok());
    if (with->flip_set != std::vector<int64_t>{0}) continue;
    ++checked;
    auto without = Explain(predictor, row.keys.row_span(0), row.logits.row_span(0), options,
                           with->lines[0].row);
    ASSERT_TRUE(without.ok());
    EXPECT_NE(without->prediction, with->prediction) << q;
  }
  EXPECT_GT(checked, 3);
}

TEST_F(ExplainTest, ExcludedRowDoesNotSpeakForItself) {
  const ResidualMemory memory = Open(folder_ / "m");
  const Predictor predictor(memory);
  const Rows row = train_.view().Slice(17, 1);
  auto with =
      Explain(predictor, row.keys.row_span(0), row.logits.row_span(0), predictor.DefaultOptions());
  auto without = Explain(predictor, row.keys.row_span(0), row.logits.row_span(0),
                         predictor.DefaultOptions(), 17);
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_EQ(with->lines[0].row, 17);
  EXPECT_EQ(with->lines[0].distance, 0);
  for (const Explanation::Line& line : without->lines) EXPECT_NE(line.row, 17);
  EXPECT_EQ(without->lines.size(), 9u);
}

TEST_F(ExplainTest, WithoutNeighborsTheLedgerIsTheBase) {
  const ResidualMemory memory = Open(folder_ / "m");
  const Predictor predictor(memory);
  PredictOptions options = predictor.DefaultOptions();
  options.parameters.k = 0;
  const Rows row = queries_.view().Slice(0, 1);
  auto explanation = Explain(predictor, row.keys.row_span(0), row.logits.row_span(0), options);
  ASSERT_TRUE(explanation.ok());
  EXPECT_TRUE(explanation->lines.empty());
  EXPECT_EQ(explanation->prediction, explanation->base_prediction);
  for (double rounding : explanation->rounding) EXPECT_EQ(rounding, 0);
}

}  // namespace
}  // namespace resmem
