// Windows of tokens through the real ONNX Runtime.
#include <gtest/gtest.h>

#include <limits>
#include <mutex>
#include <numeric>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "onnx/test_graphs.h"
#include "resmem/models/onnx_model.h"

namespace resmem {
namespace {

constexpr int64_t kVocabulary = 5;

// ids (n x t, int64) -> Gather e (n x t x 2) = (id, -id) -> MatMul y (n x t x 5) = id * (0 .. 4)
fixtures::GraphMaker Tokens(const std::vector<float>& embeddings) {
  fixtures::GraphMaker maker;
  maker.Input("ids", {-1, -1});
  maker.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::INT64);
  maker.Weights("table", {kVocabulary, 2}, embeddings);
  maker.Weights("head", {2, kVocabulary}, {0, 1, 2, 3, 4, 0, 0, 0, 0, 0});
  maker.Node("Gather", {"table", "ids"}, "e");
  maker.Node("MatMul", {"e", "head"}, "y");
  maker.Output("e", {-1, -1, 2});
  maker.Output("y", {-1, -1, kVocabulary});
  return maker;
}

class TokenRunner : public testing::Test {
 protected:
  void SetUp() override { RESMEM_NEED_RUNTIME(); }

  Result<OnnxModel> Open(std::vector<float> embeddings = {0, 0, 1, -1, 2, -2, 3, -3, 4, -4},
                         int threads = 1) {
    fixtures::WriteBytes(path_, Tokens(embeddings).bytes());
    ModelManifest manifest;
    manifest.input = "ids";
    manifest.context = 6;
    manifest.tokenizer = "abc";
    manifest.embedding = "e";
    manifest.logits = "y";
    manifest.dim = 2;
    manifest.classes = kVocabulary;
    RESMEM_RETURN_IF_ERROR(WriteModelManifest(path_, manifest));
    return OnnxModel::Open(path_, {.threads = threads, .library = ""});
  }
  Status Run(const OnnxModel& model, const std::vector<std::vector<int32_t>>& windows) {
    std::vector<std::span<const int32_t>> spans(windows.begin(), windows.end());
    keys_.assign(windows.size(), {});
    logits_.assign(windows.size(), {});
    return model.RunTokens(
        spans, [&](int64_t window, std::span<const float> keys, std::span<const float> logits) {
          keys_[static_cast<size_t>(window)].assign(keys.begin(), keys.end());
          logits_[static_cast<size_t>(window)].assign(logits.begin(), logits.end());
          return Status();
        });
  }

  const fixtures::TemporaryFolder folder_;
  const std::string path_ = folder_ / "tokens.onnx";
  std::vector<std::vector<float>> keys_, logits_;
};

TEST_F(TokenRunner, EveryPositionHasItsKeyAndItsLogits) {
  const auto model = Open();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->manifest().tokenizer, "abc");
  ASSERT_TRUE(Run(*model, {{3, 1}, {4}}).ok());
  EXPECT_EQ(keys_[0], (std::vector<float>{3, -3, 1, -1}));
  EXPECT_EQ(logits_[0], (std::vector<float>{0, 3, 6, 9, 12, 0, 1, 2, 3, 4}));
  EXPECT_EQ(keys_[1], (std::vector<float>{4, -4}));
}

TEST_F(TokenRunner, AnswersDoNotDependOnTheThreads) {
  std::vector<std::vector<int32_t>> windows;
  for (int32_t i = 0; i < 50; ++i) windows.push_back(std::vector<int32_t>(1 + i % 6, i % 5));
  ASSERT_TRUE(Run(*Open(), windows).ok());
  const auto keys = keys_, logits = logits_;
  ASSERT_TRUE(Run(*Open({0, 0, 1, -1, 2, -2, 3, -3, 4, -4}, 3), windows).ok());
  EXPECT_EQ(keys_, keys);
  EXPECT_EQ(logits_, logits);
}

TEST_F(TokenRunner, TheFirstBadWindowIsNamed) {
  const auto model = Open();
  for (const std::vector<int32_t>& bad :
       {std::vector<int32_t>{}, {0, 5}, {-1}, {0, 0, 0, 0, 0, 0, 0}}) {
    const Status status = Run(*model, {{1}, bad, {2}, bad});
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(status.message().find("window 1:"), std::string::npos) << status.message();
  }
  const Status broken =
      Run(*Open({0, 0, 1, -1, std::numeric_limits<float>::infinity(), 0, 0, 0, 0, 0}), {{1, 2}});
  EXPECT_EQ(broken.code(), ErrorCode::kBadData);
  EXPECT_NE(broken.message().find("position 1"), std::string::npos) << broken.message();
}

TEST_F(TokenRunner, AnErrorOfTheCallerEndsTheRun) {
  const auto model = Open();
  const std::vector<int32_t> ids = {1, 2};
  const std::vector<std::span<const int32_t>> windows(4, ids);
  int64_t seen = 0;
  const Status status =
      model->RunTokens(windows, [&](int64_t, std::span<const float>, std::span<const float>) {
        ++seen;
        return Status(ErrorCode::kCancelled, "enough");
      });
  EXPECT_EQ(status.code(), ErrorCode::kCancelled);
  EXPECT_EQ(seen, 1);
}

TEST_F(TokenRunner, ModelsOfOtherKindsAreRefused) {
  const auto model = Open();
  const std::vector<float> row(6);
  EXPECT_EQ(model->RunFloats(MatrixView(row.data(), 1, 6), {}, {}).code(),
            ErrorCode::kInvalidArgument);
  ModelManifest manifest = model->manifest();
  manifest.columns = 6;
  EXPECT_EQ(CheckManifest(manifest).code(), ErrorCode::kInvalidArgument);
  manifest.context = 0;
  EXPECT_EQ(CheckManifest(manifest).code(), ErrorCode::kInvalidArgument) << "a tokenizer is named";
  manifest.tokenizer.clear();
  ASSERT_TRUE(WriteModelManifest(path_, manifest).ok());
  EXPECT_FALSE(OnnxModel::Open(path_).ok());
}

}  // namespace
}  // namespace resmem
