#include <gtest/gtest.h>

#include "kernels/amx.h"
#include "kernels/simd_level.h"
#include "resmem_program/simd.h"
#include "train/test_run.h"

namespace resmem::train {
namespace {

using PrecisionTest = TrainerTest;

// A level at which no tiles are used.
std::string LevelWithoutTiles() {
  for (const std::string& name : SimdNamesAvailable()) {
    if (name != "amx") return name;
  }
  return "";
}

TEST_F(PrecisionTest, OnTilesTheThreadCountDoesNotChangeABit) {
  if (!AmxActive()) return;
  TrainRecipe recipe = Recipe();
  const std::string one = Folder("one", recipe);
  recipe.threads = 2;
  const std::string two = Folder("two", recipe);
  ASSERT_TRUE(Run(one).ok());
  EXPECT_EQ(reports_.back().precision, Precision::kBfloat16);
  ASSERT_TRUE(Run(two).ok());
  EXPECT_EQ(Bytes(one + "/last.onnx"), Bytes(two + "/last.onnx"));
  EXPECT_EQ(Bytes(one + "/best.onnx"), Bytes(two + "/best.onnx"));
}

TEST_F(PrecisionTest, BothPrecisionsLearnTheSame) {
  if (!AmxActive()) return;
  double losses[2] = {};
  for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
    TrainRecipe recipe = Recipe();
    recipe.precision = precision;
    ASSERT_TRUE(Run(Folder(NameOf(precision), recipe)).ok());
    EXPECT_EQ(reports_.back().precision, precision);
    losses[precision == Precision::kBfloat16] = reports_.front().loss;
  }
  EXPECT_NE(losses[0], losses[1]);
  EXPECT_NEAR(losses[0], losses[1], 0.05);
}

TEST_F(PrecisionTest, Bfloat16IsRefusedWhereItCannotBe) {
  TrainRecipe recipe = Recipe();
  recipe.precision = Precision::kBfloat16;
  {
    const ScopedSimdLevel level(LevelWithoutTiles());
    const Status status = Run(Folder("no_tiles", recipe));
    EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
    EXPECT_NE(status.message().find("--precision"), std::string::npos) << status.message();
  }
  recipe.network = "mobilenetv2-0.35";
  EXPECT_EQ(Run(Folder("mobilenet", recipe)).code(), ErrorCode::kUnsupported);
}

TEST_F(PrecisionTest, ARunGoesOnInThePrecisionItWasBegunIn) {
  const std::string folder = Folder("float", Recipe());
  {
    const ScopedSimdLevel level(LevelWithoutTiles());
    ASSERT_EQ(Run(folder, 1, 1).code(), ErrorCode::kCancelled);
  }
  ASSERT_TRUE(Run(folder).ok());
  EXPECT_EQ(reports_.back().precision, Precision::kFloat32);

  if (!AmxActive()) return;
  const std::string tiles = Folder("tiles", Recipe());
  ASSERT_EQ(Run(tiles, 1, 1).code(), ErrorCode::kCancelled);
  const ScopedSimdLevel level(LevelWithoutTiles());
  const Status status = Run(tiles);
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("begun in bfloat16"), std::string::npos) << status.message();
  TrainRecipe other = Recipe();
  other.precision = Precision::kFloat32;
  Folder("tiles", other);
  EXPECT_EQ(Run(tiles).code(), ErrorCode::kMismatch);
}

}  // namespace
}  // namespace resmem::train
