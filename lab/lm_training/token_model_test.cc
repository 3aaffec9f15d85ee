#include "resmem/lm/token_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "lm_training/onnx_export.h"
#include "support/random.h"
#include "transformer/onnx_import.h"

namespace resmem {
namespace {

class TokenModelTest : public testing::Test {
 protected:
  static constexpr int64_t kContext = 140;

  TokenModelTest() {
    EXPECT_TRUE(ExportLanguageModel(path_, shape_, layout_, values_, kContext).ok());
    manifest_.input = kTokensInput;
    manifest_.context = kContext;
    manifest_.embedding = kTokensEmbedding;
    manifest_.logits = kTokensLogits;
    manifest_.dim = shape_.dim;
    manifest_.classes = shape_.vocabulary;
    manifest_.network = "t5-d96-l2-h3-f64";
    WriteManifest();
  }
  void WriteManifest() { EXPECT_TRUE(WriteModelManifest(path_, manifest_).ok()); }
  Result<TokenModel> Open(TokenEngine engine) const { return TokenModel::Open(path_, engine, {}); }
  bool IsOurs() const { return ImportLanguageModel(path_, manifest_).ok(); }

  const fixtures::TemporaryFolder folder_{fixtures::FastParent()};
  const std::string path_ = folder_ / "model.onnx";
  const LanguageModelShape shape_{96, 2, 3, 64, 288};  // a root of dim that no float is
  const ParameterLayout layout_{shape_, 0.5};
  const std::vector<float> values_ = FirstParameters(layout_, 4);
  ModelManifest manifest_;
};

TEST_F(TokenModelTest, AnExportedModelHasItsParametersAgain) {
  const auto model = ImportLanguageModel(path_, manifest_);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->values.size(), values_.size());
  const auto last = static_cast<size_t>(layout_.last_norm.offset);
  for (size_t i = 0; i < values_.size(); ++i) {
    // The last norm was multiplied by dim^-0.5.
    ASSERT_NEAR(model->values[i], values_[i], i < last ? 0 : 1e-7) << i;
  }
}

TEST_F(TokenModelTest, EnginesAgree) {
  const auto native = Open(TokenEngine::kAuto);
  ASSERT_TRUE(native.ok()) << native.status().message();
  EXPECT_EQ(native->engine(), TokenEngine::kNative);
  const auto runtime = Open(TokenEngine::kOnnxRuntime);
  if (runtime.status().code() == ErrorCode::kNotFound && std::getenv("CI") == nullptr) {
    GTEST_SKIP() << "ONNX Runtime is not here: ./setup installs it";
  }
  ASSERT_TRUE(runtime.ok()) << runtime.status().message();
  EXPECT_EQ(runtime->engine(), TokenEngine::kOnnxRuntime);
  EXPECT_EQ(runtime->fingerprint(), native->fingerprint());
  Random random(8);
  std::vector<int32_t> ids(kContext), few = {3, 7, 1};
  for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(288));
  const TokenInput windows[] = {{ids, 100}, {few, 2}};
  std::vector<float> keys[2], logits[2];
  for (const int side : {0, 1}) {
    keys[side].resize(102 * 96);
    logits[side].resize(102 * 288);
    const Status status = (side == 0 ? *native : *runtime).Run(windows, keys[side], logits[side]);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  const auto difference = [](const std::vector<float>& a, const std::vector<float>& b) {
    double distance = 0, size = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      distance += std::pow(a[i] - b[i], 2);
      size += std::pow(b[i], 2);
    }
    return std::sqrt(distance / size);
  };
  EXPECT_LT(difference(keys[0], keys[1]), 0.01);
  EXPECT_LT(difference(logits[0], logits[1]), 0.01);
}

TEST_F(TokenModelTest, WindowsThatAreNoneAreRefused) {
  const auto model = Open(TokenEngine::kNative);
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::vector<float> keys(96), logits(288);
  const std::vector<int32_t> good = {1, 2}, high = {1, 288}, low = {-1}, longer(141);
  const auto run = [&](const std::vector<int32_t>& ids, int64_t wanted) {
    const TokenInput window{ids, wanted};
    return model->Run({&window, 1}, keys, logits).code();
  };
  EXPECT_EQ(run(good, 1), ErrorCode::kOk);
  EXPECT_EQ(run(good, 2), ErrorCode::kInvalidArgument);  // room for one
  EXPECT_EQ(run(good, 3), ErrorCode::kInvalidArgument);
  EXPECT_EQ(run(good, -1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(run(high, 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(run(low, 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(run(longer, 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(run({}, 0), ErrorCode::kInvalidArgument);
}

TEST_F(TokenModelTest, AnotherManifestIsAnotherModel) {
  const ModelManifest sound = manifest_;
  for (const char* network : {"t5-d96-l3-h3-f64", "t5-d96-l2-h1-f64", "t5-d96-l2-h3-f96", "gpt", "",
                              "t5-d65536-l1000-h1-f65536"}) {
    manifest_.network = network;
    EXPECT_FALSE(IsOurs()) << network;
  }
  manifest_ = sound;
  manifest_.context = 139;
  EXPECT_FALSE(IsOurs());
  manifest_.context = 1000000;
  EXPECT_FALSE(IsOurs());
  manifest_ = sound;
  manifest_.embedding = "Mul_9";
  EXPECT_FALSE(IsOurs());
  WriteManifest();
  const auto refused = Open(TokenEngine::kNative);
  EXPECT_EQ(refused.status().code(), ErrorCode::kUnsupported);
  // Auto asks the runtime, whose own check of the manifest then speaks, or which is not there.
  const auto fallen = Open(TokenEngine::kAuto);
  EXPECT_NE(fallen.status().code(), ErrorCode::kOk);
  EXPECT_EQ(fallen.status().message().find("resmem lm train"), std::string::npos)
      << fallen.status().message();
}

// Wherever a bit of the file is changed, behind the version of its producer: either a number has
// changed, or the file is no longer taken for ours.
TEST_F(TokenModelTest, AChangedGraphIsNotTakenForOurs) {
  const std::string bytes = fixtures::ReadBytes(path_);
  Random random(3);
  int taken = 0, refused = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::string changed = bytes;
    constexpr size_t kNodes = 64;  // begin here; the tensors follow
    const size_t place = kNodes + random.Below(trial % 2 == 0 ? bytes.size() - kNodes : 4000);
    changed[place] = static_cast<char>(changed[place] ^ (1 << random.Below(8)));
    fixtures::WriteBytes(path_, changed);
    const auto model = ImportLanguageModel(path_, manifest_);
    if (!model.ok()) {
      ++refused;
      continue;
    }
    ++taken;
    const auto differ = std::mismatch(values_.begin(), values_.end(), model->values.begin());
    EXPECT_NE(differ.first, values_.end()) << place;
  }
  EXPECT_GT(taken, 50);
  EXPECT_GT(refused, 50);
  for (size_t size = 0; size < bytes.size(); size += 997) {
    fixtures::WriteBytes(path_, bytes.substr(0, size));
    EXPECT_FALSE(IsOurs()) << size;
  }
}

TEST_F(TokenModelTest, NumbersThatOverflowAreLeftToTheRuntime) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 1e30f}) {
    std::vector<float> values = values_;
    values[static_cast<size_t>(layout_.layers[1].qkv.offset) + 7] = bad;
    ASSERT_TRUE(ExportLanguageModel(path_, shape_, layout_, values, kContext).ok());
    EXPECT_EQ(Open(TokenEngine::kNative).status().code(), ErrorCode::kUnsupported);
  }
}

TEST_F(TokenModelTest, FilesThatAreNotThereAreNamed) {
  EXPECT_EQ(TokenModel::Open(folder_ / "none.onnx", TokenEngine::kAuto, {}).status().code(),
            ErrorCode::kNotFound);
  fixtures::WriteBytes(path_, "not a model");
  EXPECT_EQ(Open(TokenEngine::kAuto).status().code(), ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
