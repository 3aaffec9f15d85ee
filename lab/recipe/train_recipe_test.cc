#include "recipe/train_recipe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace resmem {
namespace {

class RecipeFile : public testing::Test {
 protected:
  std::string path_ = testing::TempDir() + "recipe_" + std::to_string(getpid()) + ".json";
  void TearDown() override { std::remove(path_.c_str()); }
  Status ReadText(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return ReadTrainRecipe(path_).status();
  }
  TrainRecipe Sound() {
    TrainRecipe recipe;
    recipe.images = "cifar100";
    return recipe;
  }
};

TEST_F(RecipeFile, ComesBackAsItWasWritten) {
  TrainRecipe recipe = Sound();
  ASSERT_TRUE(ApplyPreset("paper", &recipe).ok());
  recipe.network = "mobilenetv2-0.35";
  recipe.keep_epochs = {3, 9};
  recipe.seed = UINT64_MAX;
  recipe.precision = Precision::kBfloat16;
  ASSERT_TRUE(WriteTrainRecipe(path_, recipe).ok());
  const auto read = ReadTrainRecipe(path_);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(RecipeDifference(recipe, *read), "");
  TrainRecipe other = *read;
  other.drop_epochs = {1};
  EXPECT_NE(RecipeDifference(recipe, other).find("drop_epochs"), std::string::npos);
}

TEST_F(RecipeFile, OfBeforeThereWasAPrecisionLeavesTheChoiceOpen) {
  ASSERT_TRUE(WriteTrainRecipe(path_, Sound()).ok());
  std::ifstream file(path_);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string line = "  \"precision\": \"auto\",\n";
  ASSERT_NE(text.find(line), std::string::npos) << text;
  text.erase(text.find(line), line.size());
  EXPECT_TRUE(ReadText(text).ok());
  EXPECT_EQ(ReadTrainRecipe(path_)->precision, Precision::kAuto);
  const std::string balanced = "  \"balanced\": false,\n";
  ASSERT_NE(text.find(balanced), std::string::npos) << text;
  text.erase(text.find(balanced), balanced.size());
  EXPECT_TRUE(ReadText(text).ok());
  EXPECT_FALSE(ReadTrainRecipe(path_)->balanced);
}

TEST_F(RecipeFile, BalancedRowsNeedANumber) {
  TrainRecipe recipe = Sound();
  recipe.balanced = true;
  EXPECT_EQ(CheckTrainRecipe(recipe).code(), ErrorCode::kInvalidArgument);
  recipe.rows = 10;
  EXPECT_TRUE(CheckTrainRecipe(recipe).ok());
}

TEST_F(RecipeFile, HostileTextIsRefused) {
  EXPECT_EQ(ReadTrainRecipe(path_ + ".none").status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(ReadText("").code(), ErrorCode::kBadData);
  EXPECT_EQ(ReadText("[1]").code(), ErrorCode::kBadData);
  EXPECT_EQ(ReadText("{}").code(), ErrorCode::kTooNew);
  EXPECT_EQ(ReadText(R"({"resmem_recipe": 2})").code(), ErrorCode::kTooNew);
  EXPECT_EQ(ReadText(R"({"resmem_recipe": 1})").code(), ErrorCode::kBadData);
  EXPECT_FALSE(ReadText(std::string(200000, '[')).ok());
  EXPECT_FALSE(ReadText("{\"resmem_recipe\": " + std::string(200000, '[')).ok());
  EXPECT_EQ(ReadText(std::string(2 << 20, ' ')).code(), ErrorCode::kBadData);
}

TEST_F(RecipeFile, AFieldOfAnotherTypeIsNamed) {
  ASSERT_TRUE(WriteTrainRecipe(path_, Sound()).ok());
  std::ifstream file(path_);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.replace(text.find("\"epochs\": 24"), 12, "\"epochs\": \"x\"");
  const Status status = ReadText(text);
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("\"epochs\" is \"x\""), std::string::npos) << status.message();
}

TEST(TrainRecipe, ValuesOutsideTheirBoundsAreRefused) {
  const auto refused = [](auto change) {
    TrainRecipe recipe;
    recipe.images = "cifar100";
    EXPECT_TRUE(CheckTrainRecipe(recipe).ok());
    change(recipe);
    return CheckTrainRecipe(recipe).code() == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.network = "resnet9"; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.network = "mlp-"; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.network = "mlp-8"; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.network = "mobilenetv2-nan"; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.images = ""; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.epochs = 0; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.batch = 0; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.momentum = 1; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.peak_rate = 0; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.height = 32; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.warmup_epochs = 25; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.keep_epochs = {25}; }));
  EXPECT_TRUE(refused([](TrainRecipe& r) { r.drop_epochs = {9, 3}; }));
}

TEST(TrainRecipe, NamesOfNetworksAreParsed) {
  EXPECT_EQ(ParseNetworkName("resnet56")->depth, 56);
  EXPECT_DOUBLE_EQ(ParseNetworkName("mobilenetv2-0.35")->width, 0.35);
  EXPECT_EQ(ParseNetworkName("mlp-256-64")->hidden, (std::vector<int64_t>{256, 64}));
  EXPECT_TRUE(ParseNetworkName("linear")->hidden.empty());
}

}  // namespace
}  // namespace resmem
