#include "base_model/base_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base_model/toy_problem.h"
#include "kernels/every_simd_level.h"

namespace resmem {
namespace {

BaseModelOptions Options(int64_t hidden, int threads = 2) {
  BaseModelOptions options;
  options.hidden = hidden;
  options.batch = 50;
  options.epochs = 30;
  options.threads = threads;
  return options;
}

struct Arrays {
  std::vector<float> keys, logits;
  bool operator==(const Arrays&) const = default;
};

Arrays ArraysOf(const BaseModel& model, MatrixView inputs, int threads = 2) {
  Arrays arrays{std::vector<float>(static_cast<size_t>(inputs.rows * model.dim())),
                std::vector<float>(static_cast<size_t>(inputs.rows * model.classes()))};
  EXPECT_TRUE(model.Run(inputs, threads, arrays.keys, arrays.logits).ok());
  return arrays;
}

double AccuracyOf(const Arrays& arrays, const std::vector<int32_t>& labels) {
  int64_t right = 0;
  for (size_t row = 0; row < labels.size(); ++row) {
    right += (arrays.logits[2 * row + 1] > arrays.logits[2 * row]) == (labels[row] == 1);
  }
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

class Failing : public testing::Test {
 protected:
  // The message of the error that training must give.
  std::string Refused(ErrorCode code, const BaseModelOptions& options, int64_t classes = 2) {
    const auto model = BaseModel::Train(toy_.view(), toy_.labels, classes, options);
    EXPECT_FALSE(model.ok());
    EXPECT_EQ(model.status().code(), code) << model.status().message();
    return model.status().message();
  }
  ToyProblem toy_ = MakeToyProblem(20, 1);
};

TEST(BaseModel, HiddenLayerLearnsWhatALinearModelCannot) {
  const ToyProblem train = MakeToyProblem(1000, 1), test = MakeToyProblem(500, 2);
  const auto linear = BaseModel::Train(train.view(), train.labels, 2, Options(0));
  const auto hidden = BaseModel::Train(train.view(), train.labels, 2, Options(16));
  ASSERT_TRUE(linear.ok() && hidden.ok());
  EXPECT_LT(AccuracyOf(ArraysOf(*linear, test.view()), test.labels), 0.8);
  EXPECT_GT(AccuracyOf(ArraysOf(*hidden, test.view()), test.labels), 0.99);
  EXPECT_EQ(hidden->parameters(), 3 * 16 + 17 * 2);
}

TEST(BaseModel, LinearModelSeparatesByOneColumn) {
  ToyProblem toy = MakeToyProblem(600, 3);
  for (int64_t row = 0; row < 600; ++row) toy.labels[row] = toy.inputs[2 * row] > 0;
  const auto model = BaseModel::Train(toy.view(), toy.labels, 2, Options(0));
  ASSERT_TRUE(model.ok());
  EXPECT_GT(AccuracyOf(ArraysOf(*model, toy.view()), toy.labels), 0.99);
  EXPECT_EQ(model->dim(), 2);
}

TEST(BaseModel, IsTheSameBitsForAnyThreadCountAndInstructionSet) {
  const ToyProblem toy = MakeToyProblem(333, 4);
  const auto train = [&](int threads) {
    const auto model = BaseModel::Train(toy.view(), toy.labels, 2, Options(70, threads));
    EXPECT_TRUE(model.ok());
    return ArraysOf(*model, toy.view(), threads);
  };
  const Arrays expected = train(1);
  EXPECT_EQ(train(2), expected);
  EXPECT_EQ(train(3), expected);
  AtEverySimdLevel([&] { EXPECT_EQ(train(2), expected); });
}

TEST(BaseModel, AnotherSeedGivesAnotherModel) {
  const ToyProblem toy = MakeToyProblem(100, 4);
  BaseModelOptions options = Options(8);
  const auto one = BaseModel::Train(toy.view(), toy.labels, 2, options);
  options.seed = 2;
  const auto two = BaseModel::Train(toy.view(), toy.labels, 2, options);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(ArraysOf(*one, toy.view()), ArraysOf(*two, toy.view()));
}

TEST(BaseModel, ARowsAnswerDoesNotDependOnItsCompany) {
  const ToyProblem toy = MakeToyProblem(200, 5);
  const auto model = BaseModel::Train(toy.view(), toy.labels, 2, Options(13));
  ASSERT_TRUE(model.ok());
  const Arrays all = ArraysOf(*model, toy.view());
  for (const int64_t row : {0, 63, 64, 131, 199}) {
    const Arrays one = ArraysOf(*model, toy.view().Slice(row, 1));
    EXPECT_TRUE(std::equal(one.keys.begin(), one.keys.end(), &all.keys[row * 13])) << row;
    EXPECT_TRUE(std::equal(one.logits.begin(), one.logits.end(), &all.logits[row * 2])) << row;
  }
}

TEST(BaseModel, KeysAreTakenBeforeRelu) {
  const ToyProblem toy = MakeToyProblem(50, 6);
  const auto model = BaseModel::Train(toy.view(), toy.labels, 2, Options(8));
  ASSERT_TRUE(model.ok());
  const std::vector<float> keys = ArraysOf(*model, toy.view()).keys;
  EXPECT_LT(*std::min_element(keys.begin(), keys.end()), 0);
}

TEST(BaseModel, KeyOfALinearModelIsTheStandardizedInput) {
  const std::vector<float> inputs = {1, 10, 3, 10};
  const std::vector<int32_t> labels = {0, 1};
  const auto model = BaseModel::Train({inputs.data(), 2, 2}, labels, 2, Options(0));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(ArraysOf(*model, {inputs.data(), 2, 2}).keys, (std::vector<float>{-1, 0, 1, 0}));
}

TEST_F(Failing, ARateTooLargeIsNamed) {
  BaseModelOptions options = Options(8);
  options.learning_rate = 1e30f;
  EXPECT_NE(Refused(ErrorCode::kInvalidArgument, options).find("learning_rate 1e+30"),
            std::string::npos);
}

TEST_F(Failing, OptionsOutsideTheirRangeAreNamed) {
  const auto refused = [&](auto change) {
    BaseModelOptions options = Options(8);
    change(options);
    return Refused(ErrorCode::kInvalidArgument, options);
  };
  EXPECT_EQ(refused([](auto& o) { o.hidden = -1; }),
            "hidden is -1, but must be 0 (a linear model) to 65536");
  EXPECT_EQ(refused([](auto& o) { o.epochs = 0; }), "epochs is 0, but must be 1 to 1000000");
  EXPECT_EQ(refused([](auto& o) { o.batch = 0; }), "batch is 0, but must be 1 to 65536");
  EXPECT_EQ(refused([](auto& o) { o.momentum = 1; }), "momentum is 1, but must be in [0, 1)");
  EXPECT_EQ(refused([](auto& o) { o.weight_decay = -1; }),
            "weight_decay is -1, but must be in [0, 1)");
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(refused([&](auto& o) { o.learning_rate = not_a_number; }),
            "learning_rate is nan, but must be above 0 and finite");
}

TEST_F(Failing, ValuesThatAreNotFiniteAreNamedByPlace) {
  toy_.inputs[2 * 13 + 1] = std::numeric_limits<float>::infinity();
  toy_.inputs[2 * 17] = std::numeric_limits<float>::infinity();
  EXPECT_NE(Refused(ErrorCode::kBadData, Options(8)).find("row 13, column 1 is inf"),
            std::string::npos);
}

TEST_F(Failing, LabelsOutsideTheClassesAreNamedByPlace) {
  toy_.labels[7] = 2;
  EXPECT_NE(Refused(ErrorCode::kBadData, Options(8)).find("row 7 is 2"), std::string::npos);
  toy_.labels.pop_back();
  EXPECT_NE(Refused(ErrorCode::kBadData, Options(8)).find("20 rows, but there are 19 labels"),
            std::string::npos);
}

TEST_F(Failing, AModelTooLargeIsRefusedBeforeItIsAllocated) {
  EXPECT_NE(Refused(ErrorCode::kInvalidArgument, Options(65536), int64_t{1} << 24).find("fewer"),
            std::string::npos);
}

TEST_F(Failing, CancelledTrainingGivesNoModel) {
  struct Stop : Progress {
    bool Cancelled() const override { return true; }
  } stop;
  BaseModelOptions options = Options(8);
  options.progress = &stop;
  Refused(ErrorCode::kCancelled, options);
}

TEST_F(Failing, RunRefusesOtherShapes) {
  const auto model = BaseModel::Train(toy_.view(), toy_.labels, 2, Options(8));
  ASSERT_TRUE(model.ok());
  std::vector<float> keys(20 * 8), logits(20 * 2);
  const MatrixView wide(toy_.inputs.data(), 10, 4);
  EXPECT_EQ(model->Run(wide, 1, keys, logits).code(), ErrorCode::kMismatch);
  logits.pop_back();
  EXPECT_EQ(model->Run(toy_.view(), 1, keys, logits).code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(model->Run(toy_.view(), 1, keys, {}).ok());
  toy_.inputs[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(model->Run(toy_.view(), 1, keys, {}).code(), ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
