#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "fixtures/small_memory.h"
#include "resmem/report/report.h"

namespace resmem {
namespace {

class ChooseExamplesTest : public testing::Test {
 protected:
  void SetUp() override {
    fixtures::Write(folder_ / "memory", fixtures::Describe(train_, {8, 1.0f, 1.0f}), train_.view());
    memory_.emplace(fixtures::Open(folder_ / "memory"));
  }
  std::vector<Example> Choose(const ExampleOptions& options, int64_t block_rows = 0) {
    const Predictor predictor(*memory_);
    const Rows rows = test_.view();
    Result<std::vector<Example>> examples =
        ChooseExamples(predictor, ReadRows(rows, block_rows), options);
    EXPECT_TRUE(examples.ok()) << examples.status().message();
    return std::move(examples).value();
  }

  fixtures::TemporaryFolder folder_;
  fixtures::Problem train_ = fixtures::MakeProblem(300, 4, 6, 1);
  fixtures::Problem test_ = fixtures::MakeProblem(400, 4, 6, 2);
  std::optional<ResidualMemory> memory_;
};

bool IsFixed(const Example& example) {
  return example.explanation.prediction == example.truth &&
         example.explanation.base_prediction != example.truth;
}

TEST_F(ChooseExamplesTest, LargestChangesOfAllRowsComeFirst) {
  const Predictor predictor(*memory_);
  const Rows rows = test_.view();
  // By the definition: every row explained, the fixed ones sorted by their change.
  std::vector<std::pair<double, int64_t>> expected;
  for (int64_t row = 0; row < rows.count(); ++row) {
    const Result<Explanation> explanation = Explain(
        predictor, rows.keys.row_span(row), rows.logits.row_span(row), predictor.DefaultOptions());
    ASSERT_TRUE(explanation.ok());
    const int32_t truth = rows.labels[static_cast<size_t>(row)];
    if (explanation->prediction != truth || explanation->base_prediction == truth) continue;
    const auto label = static_cast<size_t>(truth);
    expected.emplace_back(explanation->base[label] - static_cast<double>(explanation->score[label]),
                          row);
  }
  std::sort(expected.begin(), expected.end());
  ASSERT_GT(expected.size(), 5u);
  ExampleOptions options;
  options.count = 5;
  const std::vector<Example> examples = Choose(options);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(IsFixed(examples[i]));
    EXPECT_EQ(examples[i].row, expected[i].second);
    EXPECT_NEAR(examples[i].change, -expected[i].first, 1e-5);
  }
  for (size_t i = 5; i < examples.size(); ++i) EXPECT_FALSE(IsFixed(examples[i]));
}

TEST_F(ChooseExamplesTest, LedgersAddUpToTheScores) {
  for (const Example& example : Choose({})) {
    for (size_t c = 0; c < 6; ++c) {
      double sum = example.explanation.base[c] + example.explanation.rounding[c];
      for (const Explanation::Line& line : example.explanation.lines) sum += line.contribution[c];
      EXPECT_NEAR(sum, static_cast<double>(example.explanation.score[c]), 1e-12);
    }
  }
}

TEST_F(ChooseExamplesTest, CutIntoBlocksDoesNotMatter) {
  for (const ExampleRule rule : {ExampleRule::kLargestChange, ExampleRule::kRandom}) {
    ExampleOptions options;
    options.rule = rule;
    std::vector<int64_t> whole, blocks;
    for (const Example& example : Choose(options)) whole.push_back(example.row);
    for (const Example& example : Choose(options, 7)) blocks.push_back(example.row);
    EXPECT_EQ(whole, blocks);
  }
}

TEST_F(ChooseExamplesTest, RandomRuleFollowsItsSeed) {
  ExampleOptions options;
  options.rule = ExampleRule::kRandom;
  std::set<std::vector<int64_t>> choices;
  for (options.seed = 0; options.seed < 4; ++options.seed) {
    std::vector<int64_t> rows;
    for (const Example& example : Choose(options)) rows.push_back(example.row);
    choices.insert(rows);
  }
  EXPECT_GT(choices.size(), 1u);
}

TEST_F(ChooseExamplesTest, BaseAloneHasNoExamples) {
  ExampleOptions options;
  options.parameters = Parameters{0, 1.0f, 1.0f};
  EXPECT_TRUE(Choose(options).empty());
}

TEST_F(ChooseExamplesTest, NoneAreShownWhereNoneAreAskedFor) {
  ExampleOptions options;
  options.count = 0;
  const auto none = Choose(options);
  EXPECT_TRUE(none.empty());
}

TEST_F(ChooseExamplesTest, AbsurdCountIsRefused) {
  const Predictor predictor(*memory_);
  const Rows rows = test_.view();
  ExampleOptions options;
  options.count = int64_t{1} << 60;
  EXPECT_EQ(ChooseExamples(predictor, ReadRows(rows), options).status().code(),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace resmem
