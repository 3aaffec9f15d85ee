// A run on a few images whose color tells the class, in a folder of the test's own.
#ifndef RESMEM_LAB_TRAIN_TEST_RUN_H_
#define RESMEM_LAB_TRAIN_TEST_RUN_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "recipe/train_recipe.h"
#include "support/random.h"
#include "train/trainer.h"

namespace resmem::train {

constexpr int64_t kRows = 96, kClasses = 4;

inline std::string Bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TrainerTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            ("resmem_train_" + std::to_string(getpid()) + "_" +
             testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(root_ / "images");
    WriteImages("data_batch_1.bin", 1);
    WriteImages("test_batch.bin", 2);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // CIFAR-10 records whose color tells the class.
  void WriteImages(const char* name, uint64_t seed) const {
    std::ofstream file(root_ / "images" / name, std::ios::binary);
    Random random(seed);
    for (int64_t row = 0; row < kRows; ++row) {
      const auto label = static_cast<int>(row % kClasses);
      file.put(static_cast<char>(label));
      for (int value = 0; value < 3072; ++value) {
        const int base = 40 + 50 * ((label + value / 1024) % kClasses);
        file.put(static_cast<char>(base + static_cast<int>(random.Below(30))));
      }
    }
  }

  TrainRecipe Recipe() const {
    TrainRecipe recipe;
    recipe.images = (root_ / "images").string();
    recipe.epochs = 3;
    recipe.batch = 16;
    recipe.warmup_epochs = 1;
    recipe.peak_rate = 0.1;
    recipe.validation_rows = 16;
    recipe.test_part = "test";
    recipe.threads = 1;
    return recipe;
  }

  std::string Folder(const char* name, const TrainRecipe& recipe) const {
    const std::filesystem::path folder = root_ / name;
    std::filesystem::create_directories(folder);
    EXPECT_TRUE(WriteTrainRecipe((folder / "recipe.json").string(), recipe).ok());
    return folder.string();
  }

  // Stops before step `stop_step` of epoch `stop_epoch`, both from 0; -1: never.
  Status Run(const std::string& folder, int64_t stop_epoch = -1, int64_t stop_step = 0) {
    reports_.clear();
    notes_.clear();
    TrainObserver observer;
    observer.note = [&](const std::string& note) { notes_.push_back(note); };
    observer.step = [&](int64_t epoch, int64_t step, int64_t, double) {
      return epoch != stop_epoch || step != stop_step;
    };
    observer.epoch = [&](const EpochReport& report) { reports_.push_back(report); };
    return Train(folder, observer);
  }

  std::filesystem::path root_;
  std::vector<EpochReport> reports_;
  std::vector<std::string> notes_;
};

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TEST_RUN_H_
