#include "base_model/model_file.h"

#include <gtest/gtest.h>

#include "base_model/base_model.h"
#include "base_model/toy_problem.h"
#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"

namespace resmem {
namespace {

class ModelFile : public testing::TestWithParam<int64_t> {
 protected:
  BaseModel Train() {
    BaseModelOptions options;
    options.hidden = GetParam();
    options.epochs = 2;
    auto model = BaseModel::Train(toy_.view(), toy_.labels, 2, options);
    EXPECT_TRUE(model.ok());
    return std::move(model).value();
  }
  std::vector<float> Logits(const BaseModel& model) {
    std::vector<float> logits(toy_.labels.size() * 2);
    EXPECT_TRUE(model.Run(toy_.view(), 1, {}, logits).ok());
    return logits;
  }
  ErrorCode Loaded(const std::string& bytes) {
    fixtures::WriteBytes(path_, bytes);
    const auto model = BaseModel::Load(path_);
    return model.status().code();
  }

  const ToyProblem toy_ = MakeToyProblem(90, 1);
  const fixtures::TemporaryFolder folder_;
  const std::string path_ = folder_ / "model.base";
};

TEST_P(ModelFile, AnswersAsTheModelThatWasSaved) {
  const BaseModel model = Train();
  ASSERT_TRUE(model.Save(path_).ok());
  const auto loaded = BaseModel::Load(path_);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(Logits(*loaded), Logits(model));
  EXPECT_EQ(loaded->dim(), model.dim());
}

TEST_P(ModelFile, TheSameTrainingGivesTheSameBytes) {
  ASSERT_TRUE(Train().Save(path_).ok());
  const std::string bytes = fixtures::ReadBytes(path_);
  ASSERT_TRUE(Train().Save(path_).ok());
  EXPECT_EQ(fixtures::ReadBytes(path_), bytes);
}

TEST_P(ModelFile, FlippedBytesAndCutsAreRefused) {
  ASSERT_TRUE(Train().Save(path_).ok());
  const std::string good = fixtures::ReadBytes(path_);
  for (size_t i = 0; i < good.size(); i += 31) {  // format/corruption_test.cc takes every one
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    const ErrorCode code = Loaded(bytes);
    EXPECT_TRUE(code == ErrorCode::kCorrupt || code == ErrorCode::kTooNew) << "byte " << i;
    EXPECT_EQ(Loaded(good.substr(0, i)), ErrorCode::kCorrupt) << i << " bytes";
  }
  EXPECT_EQ(Loaded(good), ErrorCode::kOk);
}

TEST_P(ModelFile, ShapesThatDoNotFitTogetherAreRefusedThoughAllChecksumsAreRight) {
  ASSERT_TRUE(Train().Save(path_).ok());
  std::string bytes = fixtures::ReadBytes(path_);
  std::swap(fixtures::EntryOf(bytes, 2).rows, fixtures::EntryOf(bytes, 2).columns);
  if (GetParam() == 0) fixtures::EntryOf(bytes, 1).name[0] = 'm';  // 2 x 2 either way
  fixtures::ResealAll(bytes);
  fixtures::ResealHeader(bytes);
  EXPECT_EQ(Loaded(bytes), ErrorCode::kCorrupt);
}

TEST_P(ModelFile, MissingFileIsNotFound) {
  EXPECT_EQ(BaseModel::Load(folder_ / "none").status().code(), ErrorCode::kNotFound);
}

INSTANTIATE_TEST_SUITE_P(LinearAndHidden, ModelFile, testing::Values(0, 5));

}  // namespace
}  // namespace resmem
