#include <gtest/gtest.h>

#include <filesystem>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "onnx/test_graphs.h"
#include "resmem/models/onnx_model.h"

namespace resmem {
namespace {

class PrepareTest : public testing::Test {
 protected:
  void SetUp() override { RESMEM_NEED_RUNTIME(); }

  Result<ModelManifest> Prepare(const fixtures::GraphMaker& maker,
                                const PrepareOptions& options = {}) {
    fixtures::WriteBytes(source_, maker.bytes());
    return PrepareOnnx(source_, options, path_, {});
  }
  void ExpectRefused(const fixtures::GraphMaker& maker, const PrepareOptions& options,
                     ErrorCode code, const std::string& words) {
    const Status status = Prepare(maker, options).status();
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
    EXPECT_EQ(status.message().rfind(source_, 0), 0u) << status.message();
    EXPECT_FALSE(std::filesystem::exists(path_));
  }

  const fixtures::TemporaryFolder folder_;
  const std::string source_ = folder_ / "source.onnx";
  const std::string path_ = folder_ / "net.onnx";
};

TEST_F(PrepareTest, WritesAGraphWithBothOutputsAndItsManifest) {
  PrepareOptions options;
  options.mean = {0.5f};
  options.class_names = {"a", "b", "c"};
  options.network = "tiny";
  options.resize = 3;
  const auto manifest = Prepare(fixtures::Image(), options);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->mean, (std::vector<float>{0.5f, 0.5f, 0.5f}));
  EXPECT_EQ(manifest->deviation, (std::vector<float>{1, 1, 1}));
  const ModelManifest read = *ReadModelManifest(path_);
  EXPECT_EQ(read.embedding, "flat");
  EXPECT_EQ(read.class_names, options.class_names);
  EXPECT_EQ(read.resize, 3);
  const OnnxSummary summary = *InspectOnnx(path_);
  ASSERT_EQ(summary.outputs.size(), 2u);
  EXPECT_EQ(summary.outputs[0].name, "y");
  EXPECT_EQ(summary.outputs[1].name, "flat");
}

TEST_F(PrepareTest, PreparingAPreparedModelChangesNothing) {
  ASSERT_TRUE(Prepare(fixtures::Image()).ok());
  const std::string again = folder_ / "again.onnx";
  ASSERT_TRUE(PrepareOnnx(path_, {}, again, {}).ok());
  EXPECT_EQ(fixtures::ReadBytes(again), fixtures::ReadBytes(path_));
}

TEST_F(PrepareTest, TakesTheLogitsBeforeASoftmax) {
  fixtures::GraphMaker maker = fixtures::Table();
  maker.Node("Softmax", {"y"}, "probabilities");
  maker.graph().clear_output();
  maker.Output("probabilities", {-1, 2});
  const auto manifest = Prepare(maker);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->logits, "y");
}

TEST_F(PrepareTest, ChannelsLastIsTurnedAround) {
  // TensorFlow's way: image (n x 5 x 4 x 3), the mean over the image, a head.
  fixtures::GraphMaker maker;
  maker.Input("image", {-1, 5, 4, 3});
  maker.Weights("w", {3, 2}, {1, 0, 0, 1, 0, 0});
  onnx::NodeProto& mean = maker.Node("ReduceMean", {"image"}, "pooled");
  fixtures::GraphMaker::SetIntegers(mean, "axes", {1, 2});
  fixtures::GraphMaker::SetInteger(mean, "keepdims", 0);
  maker.Node("MatMul", {"pooled", "w"}, "y");
  maker.Output("y", {-1, 2});
  const auto manifest = Prepare(maker);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->channels, 3);
  EXPECT_EQ(manifest->height, 5);
  EXPECT_EQ(manifest->width, 4);
  EXPECT_EQ(manifest->dim, 3);
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 20; ++i) pixels.insert(pixels.end(), {255, 51, 0});
  std::vector<float> keys(3);
  const auto model = OnnxModel::Open(path_);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_TRUE(model->Run(pixels, 1, keys, {}).ok());
  EXPECT_NEAR(keys[0], 1, 1e-6);
  EXPECT_NEAR(keys[1], 0.2, 1e-6);
  EXPECT_NEAR(keys[2], 0, 1e-6);
}

TEST_F(PrepareTest, OpenSidesOfAImageMustBeGiven) {
  fixtures::GraphMaker maker = fixtures::Image();
  auto* shape = maker.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
  for (const int side : {2, 3}) shape->mutable_shape()->mutable_dim(side)->set_dim_param("side");
  ExpectRefused(maker, {}, ErrorCode::kInvalidArgument, "leaves the height");
  PrepareOptions options;
  options.height = 8;
  options.width = 6;
  const auto manifest = Prepare(maker, options);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->width, 6);
}

TEST_F(PrepareTest, AnUnknownTensorGetsSuggestions) {
  PrepareOptions options;
  options.embedding = "flatt";
  ExpectRefused(fixtures::Image(), options, ErrorCode::kInvalidArgument, "most like it are flat,");
}

TEST_F(PrepareTest, WhatCannotBeAnEmbeddingIsRefused) {
  PrepareOptions options;
  options.embedding = "conv";
  ExpectRefused(fixtures::Image(), options, ErrorCode::kUnsupported, "2 x 2 x 2 x 2 for 2 rows");
  options.embedding = "image";
  ExpectRefused(fixtures::Image(), options, ErrorCode::kInvalidArgument, "is the input");
  options.embedding = "y";
  ExpectRefused(fixtures::Image(), options, ErrorCode::kInvalidArgument, "both the tensor y");
}

TEST_F(PrepareTest, AModelWithoutAHeadNeedsANamedEmbedding) {
  fixtures::GraphMaker maker;
  maker.Input("x", {-1, 2});
  maker.Node("Relu", {"x"}, "h");
  maker.Node("Neg", {"h"}, "y");
  maker.Output("y", {-1, 2});
  ExpectRefused(maker, {}, ErrorCode::kUnsupported, "--embedding");
  PrepareOptions options;
  options.embedding = "h";
  EXPECT_TRUE(Prepare(maker, options).ok());
}

TEST_F(PrepareTest, AnUnknownOperatorIsNamedInTheRuntimesWords) {
  fixtures::GraphMaker maker = fixtures::Table();
  maker.Node("Frobnicate", {"y"}, "z");
  maker.Output("z", {-1, 2});
  ExpectRefused(maker, {}, ErrorCode::kUnsupported, "Frobnicate");
}

TEST_F(PrepareTest, AnswersThatDependOnTheRowsAroundAreRefused) {
  fixtures::GraphMaker maker;  // h = x - its mean over the rows, as batch norm does in training
  maker.Input("x", {-1, 2});
  maker.Weights("w", {2, 2}, {1, 0, 0, 1});
  maker.Weights("half", {1, 2}, {0.5f, 1});
  fixtures::GraphMaker::SetInteger(maker.Node("CumSum", {"x", "axis"}, "sum"), "exclusive", 0);
  onnx::TensorProto* axis = maker.graph().add_initializer();
  axis->set_name("axis");
  axis->set_data_type(onnx::TensorProto::INT64);
  axis->add_int64_data(0);
  maker.Node("Mul", {"sum", "half"}, "h");
  maker.Node("MatMul", {"h", "w"}, "y");
  maker.Output("y", {-1, 2});
  ExpectRefused(maker, {}, ErrorCode::kUnsupported, "exported for training");
}

TEST_F(PrepareTest, InputsThatNobodyFeedsAreRefused) {
  fixtures::GraphMaker two = fixtures::Table();
  two.Input("mask", {-1, 3});
  ExpectRefused(two, {}, ErrorCode::kUnsupported, "has 2 inputs (x, mask)");
  fixtures::GraphMaker bytes = fixtures::Table();
  bytes.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::UINT8);
  ExpectRefused(bytes, {}, ErrorCode::kUnsupported, "takes uint8");
  fixtures::GraphMaker shapeless = fixtures::Table();
  shapeless.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  ExpectRefused(shapeless, {}, ErrorCode::kUnsupported, "does not say which shape");
}

// input_ids (n x t) -> Gather e -> MatMul logits, and `more` inputs of int64.
fixtures::GraphMaker Ids(const std::vector<int64_t>& sides, const std::vector<std::string>& more) {
  fixtures::GraphMaker maker;
  maker.Input("input_ids", sides);
  for (const std::string& name : more) maker.Input(name, {-1, -1});
  for (onnx::ValueInfoProto& input : *maker.graph().mutable_input()) {
    input.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
  }
  maker.Weights("table", {3, 2}, {1, 2, 3, 4, 5, 6});
  maker.Weights("head", {2, 3}, {1, 2, 3, 4, 5, 6});
  maker.Node("Gather", {"table", "input_ids"}, "e");
  maker.Node("MatMul", {"e", "head"}, "scores");
  maker.Node("Identity", {"scores"}, "logits");
  maker.Output("logits", {-1, -1, 3});
  return maker;
}

TEST_F(PrepareTest, ALanguageModelNeedsNoManifestByHand) {
  fixtures::WriteBytes(source_, Ids({-1, -1}, {"attention_mask", "position_ids"}).bytes());
  const auto manifest = PrepareOnnx(source_, {}, path_, {});
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->input, "input_ids");
  EXPECT_EQ(manifest->embedding, "e");
  EXPECT_EQ(manifest->dim, 2);
  EXPECT_EQ(manifest->classes, 3);
  EXPECT_EQ(manifest->context, 512);
  const auto model = OnnxModel::Open(path_);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_FALSE(model->keeps_past());
  std::vector<float> key(2), logits(3);
  TokenPast past;
  EXPECT_EQ(model->RunOn(std::vector<int32_t>{1}, &past, key, logits).code(),
            ErrorCode::kUnsupported);
}

TEST_F(PrepareTest, InputsThatNoLanguageModelHasAreRefusedByTheirNames) {
  ExpectRefused(Ids({-1, -1}, {"speaker"}), {}, ErrorCode::kUnsupported, "input speaker is none");
  ExpectRefused(Ids({1, 8}, {}), {}, ErrorCode::kUnsupported, "takes exactly 8 tokens");
  fixtures::GraphMaker open_heads = Ids({-1, -1}, {});
  open_heads.Input("past_key_values.0.key", {-1, -1, -1, 4});
  ExpectRefused(open_heads, {}, ErrorCode::kUnsupported, "has 3 open sides of 4");
  PrepareOptions options;
  options.context = 8;
  ExpectRefused(fixtures::Table(), options, ErrorCode::kInvalidArgument, "takes no token ids");
}

TEST_F(PrepareTest, ANormalizationThatDoesNotFitIsRefused) {
  PrepareOptions options;
  options.mean = {0.1f, 0.2f};
  ExpectRefused(fixtures::Image(), options, ErrorCode::kInvalidArgument, "mean has 2 values");
  ExpectRefused(fixtures::Table(), options, ErrorCode::kInvalidArgument, "rows of numbers");
  options = {};
  options.class_names = {"one"};
  ExpectRefused(fixtures::Table(), options, ErrorCode::kInvalidArgument, "1 class names");
}

TEST_F(PrepareTest, AMissingRuntimeIsSaidInOneSentence) {
  fixtures::WriteBytes(source_, fixtures::Table().bytes());
  OnnxOptions runtime;
  runtime.library = folder_ / "no.so";
  const Status status = PrepareOnnx(source_, {}, path_, runtime).status();
  EXPECT_EQ(status.code(), ErrorCode::kNotFound);
  EXPECT_NE(status.message().find("resmem runtime install"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace resmem
