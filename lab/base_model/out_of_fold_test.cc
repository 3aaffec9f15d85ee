#include <gtest/gtest.h>

#include "base_model/base_model.h"
#include "support/random.h"

namespace resmem {
namespace {

// Each row can be told from all others by its inputs, and its label says nothing about theirs:
// a model that has seen a row knows its label by heart, one that has not can only guess.
struct ByHeart {
  static constexpr int64_t kRows = 120, kColumns = 200;
  std::vector<float> inputs;
  std::vector<int32_t> labels;
  BaseModelOptions options;

  ByHeart() {
    Random random(9);
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      inputs.push_back(static_cast<float>(random.Normal()));
    }
    for (int64_t i = 0; i < kRows; ++i) labels.push_back(static_cast<int32_t>(random.Below(2)));
    options.hidden = 0;
    options.epochs = 60;
    options.batch = 20;
    options.weight_decay = 0;
  }
  MatrixView view() const { return {inputs.data(), kRows, kColumns}; }
  double Accuracy(const std::vector<float>& logits) const {
    int64_t right = 0;
    for (int64_t i = 0; i < kRows; ++i) {
      right += (logits[2 * i + 1] > logits[2 * i]) == (labels[i] == 1);
    }
    return static_cast<double>(right) / kRows;
  }
};

TEST(OutOfFoldLogits, NeverComeFromAModelThatSawTheRow) {
  const ByHeart data;
  std::vector<float> logits(data.kRows * 2);
  const auto model = BaseModel::Train(data.view(), data.labels, 2, data.options);
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE(model->Run(data.view(), 2, {}, logits).ok());
  ASSERT_EQ(data.Accuracy(logits), 1.0) << "the construction does not memorize";
  for (const int64_t folds : {2, 7}) {
    ASSERT_TRUE(OutOfFoldLogits(data.view(), data.labels, 2, data.options, folds, logits).ok());
    EXPECT_NEAR(data.Accuracy(logits), 0.5, 0.2) << folds;
  }
}

TEST(OutOfFoldLogits, ChangeOfALabelDoesNotReachItsOwnRow) {
  ByHeart data;
  std::vector<float> before(data.kRows * 2), after(data.kRows * 2);
  ASSERT_TRUE(OutOfFoldLogits(data.view(), data.labels, 2, data.options, 3, before).ok());
  for (const int64_t row : {0, 50, 119}) {
    data.labels[row] ^= 1;
    ASSERT_TRUE(OutOfFoldLogits(data.view(), data.labels, 2, data.options, 3, after).ok());
    EXPECT_EQ(after[2 * row], before[2 * row]);
    EXPECT_NE(after, before) << "it must reach the rows of other folds";
    data.labels[row] ^= 1;
  }
}

TEST(OutOfFoldLogits, AreTheSameForAnyThreadCount) {
  ByHeart data;
  std::vector<float> one(data.kRows * 2), three(data.kRows * 2);
  data.options.threads = 1;
  ASSERT_TRUE(OutOfFoldLogits(data.view(), data.labels, 2, data.options, 4, one).ok());
  data.options.threads = 3;
  ASSERT_TRUE(OutOfFoldLogits(data.view(), data.labels, 2, data.options, 4, three).ok());
  EXPECT_EQ(one, three);
}

TEST(OutOfFoldLogits, NeedTwoFoldsAndARowForEach) {
  const ByHeart data;
  std::vector<float> logits(data.kRows * 2);
  for (const int64_t folds : {-1, 0, 1, 121}) {
    const Status status = OutOfFoldLogits(data.view(), data.labels, 2, data.options, folds, logits);
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << folds;
  }
}

}  // namespace
}  // namespace resmem
