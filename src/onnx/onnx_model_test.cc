// Models through the real ONNX Runtime, against values computed by hand.
#include "resmem/models/onnx_model.h"

#include <gtest/gtest.h>

#include <limits>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "onnx/test_graphs.h"
#include "support/random.h"

namespace resmem {
namespace {

class OnnxModelTest : public testing::Test {
 protected:
  void SetUp() override { RESMEM_NEED_RUNTIME(); }

  // Prepared from `maker` and opened.
  Result<OnnxModel> Open(const fixtures::GraphMaker& maker, const PrepareOptions& options = {},
                         int threads = 1) {
    fixtures::WriteBytes(source_, maker.bytes());
    RESMEM_ASSIGN_OR_RETURN(const ModelManifest manifest, PrepareOnnx(source_, options, path_, {}));
    return OnnxModel::Open(path_, {.threads = threads, .library = ""});
  }

  const fixtures::TemporaryFolder folder_;
  const std::string source_ = folder_ / "source.onnx";
  const std::string path_ = folder_ / "net.onnx";
};

TEST_F(OnnxModelTest, ATableGivesTheValuesComputedByHand) {
  const auto model = Open(fixtures::Table());
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->manifest().columns, 3);
  EXPECT_EQ(model->manifest().embedding, "h");
  EXPECT_EQ(model->manifest().logits, "y");
  const std::vector<float> rows = {1, 2, 3, -4, 1, 0.5f};
  std::vector<float> keys(4), logits(4);
  ASSERT_TRUE(model->RunFloats(MatrixView(rows.data(), 2, 3), keys, logits).ok());
  EXPECT_EQ(keys, (std::vector<float>{3, 2, 0, 0}));
  EXPECT_EQ(logits, (std::vector<float>{4, 3, 0, 1}));
}

TEST_F(OnnxModelTest, AImageIsNormalizedAndTurnedChannelsFirst) {
  PrepareOptions options;
  options.mean = {0.2f, 0, 0};
  options.deviation = {0.5f, 1, 2};
  const auto model = Open(fixtures::Image(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->manifest().height, 2);
  EXPECT_EQ(model->manifest().dim, 2);
  EXPECT_EQ(model->manifest().classes, 3);
  // Red is 51 (0.2) and 255 (1) twice each, green 255, blue 0 but for one 255.
  const std::vector<uint8_t> pixels = {51, 255, 0, 255, 255, 0, 51, 255, 0, 255, 255, 255};
  std::vector<float> keys(2), logits(3);
  ASSERT_TRUE(model->Run(pixels, 1, keys, logits).ok());
  EXPECT_NEAR(keys[0], (0 + 1.6 + 0 + 1.6) / 4, 1e-6);
  EXPECT_NEAR(keys[1], (1 + 1 + 1 + 1.5) / 4, 1e-6);
  EXPECT_NEAR(logits[2], keys[0] + keys[1], 1e-6);
}

TEST_F(OnnxModelTest, AnEmbeddingWithSidesOfOneIsFlattened) {
  PrepareOptions options;
  options.embedding = "pool";
  const auto model = Open(fixtures::Image(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->manifest().dim, 2);
  std::vector<float> keys(2);
  const std::vector<uint8_t> white(12, 255);
  ASSERT_TRUE(model->Run(white, 1, keys, {}).ok());
  EXPECT_EQ(keys, (std::vector<float>{1, 2}));
}

TEST_F(OnnxModelTest, ARowsAnswerDoesNotDependOnItsNeighborsNorOnTheThreads) {
  constexpr int64_t kRows = 77;
  std::vector<uint8_t> pixels(kRows * 12);
  Random random(3);
  for (uint8_t& pixel : pixels) pixel = static_cast<uint8_t>(random.Below(256));
  const auto model = Open(fixtures::Image());
  std::vector<float> keys(kRows * 2), logits(kRows * 3);
  ASSERT_TRUE(model->Run(pixels, kRows, keys, logits).ok());
  for (const int threads : {2, 5}) {
    const auto other = OnnxModel::Open(path_, {.threads = threads, .library = ""});
    std::vector<float> again(kRows * 2), logits_again(kRows * 3);
    ASSERT_TRUE(other->Run(pixels, kRows, again, logits_again).ok());
    EXPECT_EQ(again, keys);
    EXPECT_EQ(logits_again, logits);
  }
  for (int64_t row = 0; row < kRows; ++row) {
    std::vector<float> key(2);
    ASSERT_TRUE(model->Run(std::span(pixels).subspan(12 * row, 12), 1, key, {}).ok());
    EXPECT_EQ(key[0], keys[2 * row]);
    EXPECT_EQ(key[1], keys[2 * row + 1]);
  }
}

TEST_F(OnnxModelTest, AGraphThatTakesThreeRowsAtOnceIsFilledUp) {
  fixtures::GraphMaker maker = fixtures::Table();
  for (auto* value : {maker.graph().mutable_input(0), maker.graph().mutable_output(0)}) {
    auto* shape = value->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(0)->set_dim_value(3);
  }
  const auto model = Open(maker);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<float> rows = {1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0};
  std::vector<float> keys(8);
  ASSERT_TRUE(model->RunFloats(MatrixView(rows.data(), 4, 3), keys, {}).ok());
  EXPECT_EQ(keys, (std::vector<float>{1, 0, 2, 0, 3, 0, 4, 0}));
}

TEST_F(OnnxModelTest, SizesThatDoNotFitAreRefused) {
  const auto image = Open(fixtures::Image());
  const std::vector<uint8_t> pixels(24);
  const std::vector<float> row(12);
  std::vector<float> keys(4), logits(6);
  EXPECT_TRUE(image->Run(pixels, 2, keys, logits).ok());
  EXPECT_TRUE(image->Run({}, 0, {}, {}).ok());
  const auto code = [](const Status& status) { return status.code(); };
  EXPECT_EQ(code(image->Run(pixels, 3, keys, logits)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(image->Run(pixels, -2, keys, logits)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(image->Run(pixels, 2, std::span(keys).first(3), {})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(image->RunFloats(MatrixView(row.data(), 1, 11), {}, {})), ErrorCode::kMismatch);
  const auto table = Open(fixtures::Table());
  EXPECT_EQ(code(table->Run(pixels, 2, {}, {})), ErrorCode::kInvalidArgument);
}

TEST_F(OnnxModelTest, AnAnswerThatIsNotFiniteNamesItsRow) {
  const auto model = Open(fixtures::Table());
  std::vector<float> rows(3 * 40), keys(2 * 40);
  rows[3 * 35] = std::numeric_limits<float>::infinity();
  const Status status = model->RunFloats(MatrixView(rows.data(), 40, 3), keys, {});
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("row 35:"), std::string::npos) << status.message();
}

TEST_F(OnnxModelTest, TheFingerprintIsTheSameWithoutTheRuntime) {
  const auto model = Open(fixtures::Table());
  EXPECT_EQ(model->fingerprint(), *FingerprintModel(path_));
}

TEST_F(OnnxModelTest, AManifestOfAnotherGraphIsRefused) {
  ASSERT_TRUE(Open(fixtures::Image()).ok());
  const ModelManifest manifest = *ReadModelManifest(path_);
  const auto with = [&](auto change) {
    ModelManifest other = manifest;
    change(other);
    EXPECT_TRUE(WriteModelManifest(path_, other).ok());
    return OnnxModel::Open(path_).status().code();
  };
  EXPECT_EQ(with([](auto&) {}), ErrorCode::kOk);
  EXPECT_EQ(with([](auto& m) { m.input = "images"; }), ErrorCode::kMismatch);
  EXPECT_EQ(with([](auto& m) { m.height = 4; }), ErrorCode::kMismatch);
  EXPECT_EQ(with([](auto& m) { m.embedding = "conv"; }), ErrorCode::kMismatch);
  ModelManifest wider = manifest;
  wider.dim = 5;
  ASSERT_TRUE(WriteModelManifest(path_, wider).ok());
  std::vector<float> keys(5);
  const std::vector<uint8_t> pixels(12);
  EXPECT_EQ(OnnxModel::Open(path_)->Run(pixels, 1, keys, {}).code(), ErrorCode::kMismatch);
}

TEST_F(OnnxModelTest, ExternalDataIsRefusedWhenAModelIsOpened) {
  fixtures::GraphMaker maker = fixtures::Table();
  ASSERT_TRUE(Open(maker).ok());
  onnx::TensorProto& weights = *maker.graph().mutable_initializer(0);
  fixtures::WriteBytes(folder_ / "weights.bin", weights.raw_data());
  weights.clear_raw_data();
  weights.set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = weights.add_external_data();
  entry->set_key("location");
  entry->set_value("weights.bin");
  maker.Output("h", {-1, 2});
  fixtures::WriteBytes(path_, maker.bytes());
  EXPECT_EQ(OnnxModel::Open(path_).status().code(), ErrorCode::kUnsupported);

  // Prepare takes it in.
  const auto model = Open(maker);
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::filesystem::remove(folder_ / "weights.bin");
  EXPECT_TRUE(OnnxModel::Open(path_).ok());
}

TEST_F(OnnxModelTest, AFlippedBitInEveryByteOfAPreparedGraphIsSurvived) {
  ASSERT_TRUE(Open(fixtures::Table()).ok());
  const std::string bytes = fixtures::ReadBytes(path_);
  const std::vector<float> row = {1, 2, 3};
  std::vector<float> keys(2), logits(2);
  for (size_t byte = 0; byte < bytes.size(); ++byte) {
    std::string flipped = bytes;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (byte % 8)));
    fixtures::WriteBytes(path_, flipped);
    const auto model = OnnxModel::Open(path_);
    if (model.ok()) (void)model->RunFloats(MatrixView(row.data(), 1, 3), keys, logits);
  }
}

}  // namespace
}  // namespace resmem
