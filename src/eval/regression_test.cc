#include "eval/regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "fixtures/small_memory.h"
#include "support/random.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;
using fixtures::Write;

// y = sin(x0) + x1 in two outputs; the base knows half of it.
struct Curve {
  explicit Curve(int64_t rows, uint64_t seed) : count(rows) {
    Random random(seed);
    for (int64_t i = 0; i < rows; ++i) {
      const double x0 = 3 * random.Normal(), x1 = random.Normal();
      keys.insert(keys.end(), {static_cast<float>(x0), static_cast<float>(x1)});
      targets.insert(targets.end(),
                     {static_cast<float>(std::sin(x0) + x1), static_cast<float>(x0)});
      predictions.insert(predictions.end(), {static_cast<float>(x1), static_cast<float>(x0 / 2)});
    }
  }
  Rows view() const {
    Rows rows;
    rows.keys = MatrixView(keys.data(), count, 2);
    rows.logits = MatrixView(predictions.data(), count, 2);
    rows.targets = MatrixView(targets.data(), count, 2);
    return rows;
  }
  int64_t count;
  std::vector<float> keys, predictions, targets;
};

class RegressionTest : public testing::Test {
 protected:
  RegressionTest() {
    MemoryDescription description;
    description.task = Task::kRegression;
    description.form = ResidualForm::kDense;
    description.dim = 2;
    description.outputs = 2;
    description.parameters = {5, 0.5f, 1};
    Write(folder_ / "m.resmem", description, train_.view());
    memory_ = std::make_unique<ResidualMemory>(Open(folder_ / "m.resmem"));
    predictor_ = std::make_unique<Predictor>(*memory_);
  }
  TemporaryFolder folder_;
  Curve train_ = Curve(500, 1), test_ = Curve(200, 2);
  std::unique_ptr<ResidualMemory> memory_;
  std::unique_ptr<Predictor> predictor_;
};

TEST_F(RegressionTest, ErrorsAndR2FollowFromThePredictions) {
  const Result<Evaluation> result = Evaluate(*predictor_, ReadRows(test_.view(), 33));
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_TRUE(result->regression.has_value());
  std::vector<float> scores(400);
  ASSERT_TRUE(
      predictor_
          ->Predict(test_.view().keys, test_.view().logits, predictor_->DefaultOptions(), scores)
          .ok());
  double base = 0, resmem = 0, mean[2] = {}, spread = 0;
  for (size_t i = 0; i < 400; ++i) {
    base += std::pow(static_cast<double>(test_.predictions[i]) - test_.targets[i], 2) / 400;
    resmem += std::pow(static_cast<double>(scores[i]) - test_.targets[i], 2) / 400;
    mean[i % 2] += test_.targets[i] / 200.0;
  }
  for (size_t i = 0; i < 400; ++i) spread += std::pow(test_.targets[i] - mean[i % 2], 2) / 400;
  EXPECT_NEAR(result->regression->base_mse, base, 1e-9);
  EXPECT_NEAR(result->regression->resmem_mse, resmem, 1e-9);
  EXPECT_NEAR(result->regression->base_r2, 1 - base / spread, 1e-9);
  EXPECT_NEAR(result->regression->resmem_r2, 1 - resmem / spread, 1e-9);
  EXPECT_NEAR(result->regression->mse_reduction, base - resmem, 1e-9);
  EXPECT_GT(result->regression->interval.low, 0);
  EXPECT_LT(result->regression->interval.low, base - resmem);
  EXPECT_TRUE(result->methods.empty());
}

TEST_F(RegressionTest, LeaveOneOutReadsTheMemorysOwnRows) {
  EvaluationOptions options;
  options.leave_one_out = true;
  const Result<Evaluation> own = Evaluate(*predictor_, ReadMemory(*memory_), options);
  const Result<Evaluation> given = Evaluate(*predictor_, ReadRows(train_.view()), options);
  ASSERT_TRUE(own.ok()) << own.status().message();
  ASSERT_TRUE(given.ok()) << given.status().message();
  EXPECT_NEAR(own->regression->base_mse, given->regression->base_mse, 1e-6);
  EXPECT_NEAR(own->regression->resmem_mse, given->regression->resmem_mse, 1e-6);
}

TEST_F(RegressionTest, TheWarningOfHarmNamesNoTemperature) {
  for (size_t i = 0; i < test_.predictions.size(); ++i) test_.predictions[i] = test_.targets[i];
  const Result<Evaluation> result = Evaluate(*predictor_, ReadRows(test_.view()));
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_NE(result->warnings[0].find("; tune k and sigma on validation rows"), std::string::npos)
      << result->warnings[0];
}

TEST_F(RegressionTest, RefusesRowsWithoutTargets) {
  Rows rows = test_.view();
  rows.targets = {};
  EXPECT_EQ(Evaluate(*predictor_, ReadRows(rows)).status().code(), ErrorCode::kBadData);
}

TEST(RunningMoments, MatchTheTwoPassFormulas) {
  RunningMoments moments;
  for (const double value : {1.0, 2.0, 4.0}) moments.Add(value);
  EXPECT_EQ(moments.count(), 3);
  EXPECT_DOUBLE_EQ(moments.mean(), 7.0 / 3);
  EXPECT_NEAR(moments.squares(), 1 + 4 + 16 - 49.0 / 3, 1e-12);
}

}  // namespace
}  // namespace resmem
