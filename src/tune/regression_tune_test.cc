#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "fixtures/small_memory.h"
#include "resmem/tuner.h"
#include "support/random.h"

namespace resmem {
namespace {

// y = sin(3 x) with noise; the base predicts 0.
struct Curve {
  explicit Curve(int64_t rows, uint64_t seed) {
    Random random(seed);
    for (int64_t i = 0; i < rows; ++i) {
      const double x = random.Normal();
      keys.push_back(static_cast<float>(x));
      targets.push_back(static_cast<float>(std::sin(3 * x) + 0.3 * random.Normal()));
      predictions.push_back(0);
    }
  }
  Rows view() const {
    const auto count = static_cast<int64_t>(keys.size());
    Rows rows;
    rows.keys = MatrixView(keys.data(), count, 1);
    rows.logits = MatrixView(predictions.data(), count, 1);
    rows.targets = MatrixView(targets.data(), count, 1);
    return rows;
  }
  std::vector<float> keys, targets, predictions;
};

class RegressionTuneTest : public testing::Test {
 protected:
  RegressionTuneTest() {
    MemoryDescription description;
    description.task = Task::kRegression;
    description.form = ResidualForm::kDense;
    description.dim = 1;
    description.outputs = 1;
    description.parameters = {5, 0.5f, 1};
    fixtures::Write(folder_ / "m.resmem", description, train_.view());
    memory_ = std::make_unique<ResidualMemory>(fixtures::Open(folder_ / "m.resmem"));
    predictor_ = std::make_unique<Predictor>(*memory_);
  }
  fixtures::TemporaryFolder folder_;
  Curve train_ = Curve(400, 1), validation_ = Curve(300, 2);
  std::unique_ptr<ResidualMemory> memory_;
  std::unique_ptr<Predictor> predictor_;
};

TEST_F(RegressionTuneTest, TheChoiceHasTheSmallestErrorAndEveryPointIsAnEvaluation) {
  TuneOptions options;
  options.folds = 5;
  const Result<Tuning> tuning = Tune(*predictor_, ReadRows(validation_.view(), 77), options);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  EXPECT_EQ(tuning->grid.temperature.size(), 1u);
  for (size_t i = 0; i < tuning->points.size(); ++i) {
    const TuningPoint& point = tuning->points[i];
    EXPECT_GE(point.loss, tuning->chosen_loss);
    if (i % 37 != 0) continue;
    EvaluationOptions single;
    single.parameters = point.parameters;
    const Result<Evaluation> evaluation =
        Evaluate(*predictor_, ReadRows(validation_.view()), single);
    ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
    EXPECT_NEAR(point.loss, evaluation->regression->resmem_mse, 1e-12);
    EXPECT_NEAR(tuning->base_loss, evaluation->regression->base_mse, 1e-12);
  }
  EXPECT_LT(tuning->chosen_loss, tuning->base_loss / 2);
  ASSERT_TRUE(tuning->cross_validated_loss.has_value());
  EXPECT_GE(*tuning->cross_validated_loss, tuning->chosen_loss);
  EXPECT_LT(*tuning->cross_validated_loss, tuning->base_loss);
  EXPECT_TRUE(tuning->calibrator.empty());
}

TEST_F(RegressionTuneTest, LossesDoNotDependOnTheThreadCount) {
  TuneOptions options;
  options.threads = 1;
  const Result<Tuning> one = Tune(*predictor_, ReadRows(validation_.view()), options);
  options.threads = 3;
  const Result<Tuning> three = Tune(*predictor_, ReadRows(validation_.view()), options);
  ASSERT_TRUE(one.ok() && three.ok());
  for (size_t i = 0; i < one->points.size(); ++i) {
    ASSERT_EQ(one->points[i].loss, three->points[i].loss);
  }
}

}  // namespace
}  // namespace resmem
