#include "train/trainer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "recipe/train_recipe.h"
#include "resmem/data/array.h"
#include "resmem/models/image_set.h"
#include "resmem/models/onnx_model.h"
#include "support/random.h"
#include "train/batches.h"
#include "train/test_run.h"
#include "train/test_runtime.h"
#include "train/training_data.h"

namespace resmem::train {
namespace {

namespace fs = std::filesystem;

TEST_F(TrainerTest, LearnsAndLeavesTheFilesOfARun) {
  TrainRecipe recipe = Recipe();
  recipe.epochs = 8;
  recipe.keep_epochs = {2};
  const std::string folder = Folder("run", recipe);
  const Status status = Run(folder);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(reports_.size(), 8u);
  EXPECT_LT(reports_.back().loss, reports_.front().loss);
  EXPECT_GT(reports_.back().train_accuracy, 0.9);
  EXPECT_GT(reports_.back().test_accuracy, 0.5);
  for (const char* name : {"last.onnx", "last.json", "best.onnx", "best.json", "epoch-0002.onnx",
                           "checkpoint-0007", "checkpoint-0008"}) {
    EXPECT_TRUE(fs::exists(fs::path(folder) / name)) << name;
  }
  EXPECT_FALSE(fs::exists(fs::path(folder) / "checkpoint-0006"));
  auto split = OpenArray(ArraySource{folder + "/split.npy", {}, {}});
  ASSERT_TRUE(split.ok());
  std::vector<int64_t> roles(kRows);
  ASSERT_TRUE(split->ReadIntegers(0, kRows, roles).ok());
  EXPECT_EQ(std::count(roles.begin(), roles.end(), 0), kRows - 16);
  EXPECT_EQ(std::count(roles.begin(), roles.end(), 1), 16);
  const std::string log = Bytes(fs::path(folder) / "log.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 8);
}

TEST_F(TrainerTest, AResumedRunEndsWithTheBytesOfAnUnbrokenOne) {
  const std::string whole = Folder("whole", Recipe()), broken = Folder("broken", Recipe());
  ASSERT_TRUE(Run(whole).ok());
  EXPECT_EQ(Run(broken, 1, 2).code(), ErrorCode::kCancelled);
  EXPECT_EQ(Run(broken, 2, 4).code(), ErrorCode::kCancelled);
  ASSERT_TRUE(Run(broken).ok());
  EXPECT_EQ(reports_.size(), 1u);
  EXPECT_EQ(Bytes(whole + "/last.onnx"), Bytes(broken + "/last.onnx"));
  EXPECT_EQ(Bytes(whole + "/best.onnx"), Bytes(broken + "/best.onnx"));
}

TEST_F(TrainerTest, ADamagedCheckpointIsPassedOverForTheOneBefore) {
  const std::string whole = Folder("whole", Recipe()), broken = Folder("broken", Recipe());
  ASSERT_TRUE(Run(whole).ok());
  ASSERT_EQ(Run(broken, 2, 1).code(), ErrorCode::kCancelled);
  {
    std::fstream file(broken + "/checkpoint-0002", std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(5000);
    file.put('\x5a');
    file.put('\x5a');
  }
  const Status status = Run(broken);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(reports_.size(), 2u) << "goes on after epoch 1";
  ASSERT_FALSE(notes_.empty());
  EXPECT_NE(notes_[0].find("checkpoint-0002"), std::string::npos) << notes_[0];
  EXPECT_EQ(Bytes(whole + "/last.onnx"), Bytes(broken + "/last.onnx"));
}

TEST_F(TrainerTest, TheCheckpointOfAnotherNetworkIsRefused) {
  const std::string folder = Folder("run", Recipe());
  ASSERT_EQ(Run(folder, 1, 1).code(), ErrorCode::kCancelled);
  TrainRecipe other = Recipe();
  other.network = "resnet14";
  Folder("run", other);
  EXPECT_EQ(Run(folder).code(), ErrorCode::kMismatch);
}

TEST_F(TrainerTest, ADivergedRunKeepsItsLastGoodCheckpoint) {
  std::vector<float> inputs(64 * 2);
  std::vector<int32_t> labels(64);
  Random random(3);
  for (float& value : inputs) value = static_cast<float>(random.Normal());
  for (size_t row = 0; row < labels.size(); ++row) labels[row] = static_cast<int32_t>(row % 2);
  TrainRecipe recipe;
  recipe.network = "mlp-8";
  recipe.inputs = (root_ / "x.npy").string();
  recipe.labels = (root_ / "y.npy").string();
  ASSERT_TRUE(WriteNpy(recipe.inputs, MatrixView(inputs.data(), 64, 2)).ok());
  ASSERT_TRUE(WriteNpy(recipe.labels, std::span<const int32_t>(labels)).ok());
  recipe.epochs = 4000;
  recipe.warmup_epochs = 4000;
  recipe.evaluate_every = 4000;
  recipe.batch = 64;
  recipe.peak_rate = 1000;
  recipe.momentum = 0.9999;
  recipe.weight_decay = 1;
  const std::string folder = Folder("run", recipe);
  const Status status = Run(folder);
  EXPECT_EQ(status.code(), ErrorCode::kBadData) << status.message();
  EXPECT_NE(status.message().find("--peak-rate"), std::string::npos) << status.message();
  ASSERT_FALSE(reports_.empty());
  char name[32];
  std::snprintf(name, sizeof name, "checkpoint-%04d", static_cast<int>(reports_.back().epoch));
  EXPECT_TRUE(fs::exists(fs::path(folder) / name)) << name;
}

TEST_F(TrainerTest, ADiskThatIsFullKeepsTheLastGoodCheckpoint) {
  const std::string whole = Folder("whole", Recipe()), starved = Folder("starved", Recipe());
  ASSERT_TRUE(Run(whole).ok());
  ASSERT_EQ(Run(starved, 1, 1).code(), ErrorCode::kCancelled);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Status status = Run(starved);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(fs::exists(fs::path(starved) / "checkpoint-0001"));
  ASSERT_TRUE(Run(starved).ok());
  EXPECT_EQ(Bytes(whole + "/last.onnx"), Bytes(starved + "/last.onnx"));
}

TEST_F(TrainerTest, BadDataAreNamed) {
  TrainRecipe recipe = Recipe();
  recipe.images = (root_ / "nowhere").string();
  EXPECT_EQ(Run(Folder("a", recipe)).code(), ErrorCode::kNotFound);
  recipe = Recipe();
  recipe.validation_rows = kRows;
  EXPECT_EQ(Run(Folder("b", recipe)).code(), ErrorCode::kInvalidArgument);
  fs::resize_file(root_ / "images" / "data_batch_1.bin", 3073 * 10 + 7);
  EXPECT_EQ(Run(Folder("c", Recipe())).code(), ErrorCode::kBadData);
}

TEST_F(TrainerTest, TheExportedModelIsAsRightAsTheLogSays) {
  for (const char* name : {"resnet8", "mobilenetv2-0.35"}) {
    TrainRecipe recipe = Recipe();
    recipe.network = name;
    recipe.epochs = 2;
    const std::string folder = Folder(name, recipe);
    ASSERT_TRUE(Run(folder).ok());
    auto model = OnnxModel::Open(folder + "/last.onnx");
    if (MaySkip(model.status())) GTEST_SKIP() << model.status().message();
    ASSERT_TRUE(model.ok()) << model.status().message();
    auto test = LoadTrainingData(recipe, "test");
    ASSERT_TRUE(test.ok());
    std::vector<uint8_t> pixels(static_cast<size_t>(test->images->shape().bytes() * kRows));
    ASSERT_TRUE(test->images->Read(0, kRows, pixels).ok());
    std::vector<float> logits(static_cast<size_t>(kRows * model->manifest().classes));
    ASSERT_TRUE(model->Run(pixels, kRows, {}, logits).ok());
    int64_t right = 0;
    for (int64_t row = 0; row < kRows; ++row) {
      const auto* scores = logits.data() + row * model->manifest().classes;
      const auto best = std::max_element(scores, scores + model->manifest().classes) - scores;
      right += best == test->labels[static_cast<size_t>(row)];
    }
    EXPECT_NEAR(static_cast<double>(right) / kRows, reports_.back().test_accuracy, 1e-9) << name;
  }
}

TEST_F(TrainerTest, BatchesDependOnSeedEpochAndRowAlone) {
  auto data = LoadTrainingData(Recipe(), "train");
  ASSERT_TRUE(data.ok());
  Normalization normalization{{0, 0, 0}, {1, 1, 1}};
  const BatchMaker batches(*data, normalization);
  const BatchMaker::Augmentation augmentation{4, true, 7, 3};
  const std::vector<int64_t> rows = {5, 60, 2}, other = {60};
  const torch::Tensor together = *batches.Inputs(rows, augmentation);
  const torch::Tensor alone = *batches.Inputs(other, augmentation);
  EXPECT_TRUE(torch::equal(together[1], alone[0]));
  BatchMaker::Augmentation next = augmentation;
  next.epoch = 4;
  EXPECT_FALSE(torch::equal(together, *batches.Inputs(rows, next)));
}

TEST_F(TrainerTest, AnAugmentedImageIsTheShiftedAndMirroredOriginal) {
  auto data = LoadTrainingData(Recipe(), "train");
  ASSERT_TRUE(data.ok());
  const BatchMaker batches(*data, Normalization{{0, 0, 0}, {1, 1, 1}});
  std::vector<int64_t> rows(kRows);
  std::iota(rows.begin(), rows.end(), 0);
  const torch::Tensor plain = *batches.Inputs(rows, {});
  const torch::Tensor padded = torch::constant_pad_nd(plain, {4, 4, 4, 4}, 0);
  const torch::Tensor changed = *batches.Inputs(rows, {4, true, 1, 0});
  int64_t mirrored = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    int64_t found = 0;
    for (const bool flip : {false, true}) {
      const torch::Tensor from = flip ? padded[row].flip(2) : padded[row];
      for (int64_t y = 0; y <= 8; ++y) {
        for (int64_t x = 0; x <= 8; ++x) {
          const bool same =
              torch::equal(changed[row], from.slice(1, y, y + 32).slice(2, x, x + 32));
          found += same;
          mirrored += same && flip;
        }
      }
    }
    EXPECT_EQ(found, 1) << "row " << row;
  }
  EXPECT_GT(mirrored, kRows / 4);
  EXPECT_LT(mirrored, kRows * 3 / 4);
}

}  // namespace
}  // namespace resmem::train
