// Images as rows, through the real ONNX Runtime.
#include "resmem/models/embedded_images.h"

#include <gtest/gtest.h>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "onnx/test_graphs.h"
#include "support/random.h"

namespace resmem {
namespace {

constexpr int64_t kImages = 700;  // more than two batches

class EmbeddedImagesTest : public testing::Test {
 protected:
  void SetUp() override {
    RESMEM_NEED_RUNTIME();
    fixtures::WriteBytes(folder_ / "source.onnx", fixtures::Image().bytes());
    ASSERT_TRUE(PrepareOnnx(folder_ / "source.onnx", {}, folder_ / "net.onnx", {}).ok());
    Random random(1);
    std::string header(
        "\x93NUMPY\1\0\x76\0{'descr': '|u1', 'fortran_order': False, 'shape': (700, 2, 2, 3), }",
        10 + 67);
    header.resize(127, ' ');
    for (int64_t i = 0; i < kImages * 12; ++i) {
      pixels_.push_back(static_cast<uint8_t>(random.Below(256)));
    }
    fixtures::WriteBytes(folder_ / "p.npy",
                         header + "\n" + std::string(pixels_.begin(), pixels_.end()));
    std::vector<int32_t> labels(kImages);
    for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(i % 3);
    ASSERT_TRUE(WriteNpy(folder_ / "labels.npy", std::span<const int32_t>(labels)).ok());
  }

  Result<std::shared_ptr<const EmbeddedImages>> Create(const EmbedOptions& options = {}) {
    ImageSetSource source;
    source.path = folder_ / "p.npy";
    source.labels = labels_;
    RESMEM_ASSIGN_OR_RETURN(OnnxModel model, OnnxModel::Open(folder_ / "net.onnx"));
    RESMEM_ASSIGN_OR_RETURN(ImageSet images, ImageSet::Open(source));
    return EmbeddedImages::Create(std::move(model), std::move(images), options);
  }

  const fixtures::TemporaryFolder folder_;
  std::vector<uint8_t> pixels_;
  std::string labels_ = folder_ / "labels.npy";
};

TEST_F(EmbeddedImagesTest, RowsAreTheModelsAnswersWhateverIsReadAtOnce) {
  for (const int64_t kept_bytes : {int64_t{0}, int64_t{6000}, int64_t{1} << 30}) {
    EmbedOptions options;
    options.kept_bytes = kept_bytes;
    const auto made = Create(options);
    ASSERT_TRUE(made.ok()) << made.status().message();
    std::vector<float> keys(kImages * 2), logits(kImages * 3);
    ASSERT_TRUE((*made)->model().Run(pixels_, kImages, keys, logits).ok());
    for (const auto& [begin, count] :
         std::vector<std::pair<int64_t, int64_t>>{{0, 700}, {250, 20}, {255, 258}, {699, 1}}) {
      std::vector<float> some_keys(static_cast<size_t>(count * 2));
      std::vector<float> some_logits(static_cast<size_t>(count * 3));
      ASSERT_TRUE((*made)->Make(begin, count, some_keys, some_logits).ok());
      EXPECT_TRUE(std::equal(some_keys.begin(), some_keys.end(), keys.begin() + begin * 2));
      EXPECT_TRUE(std::equal(some_logits.begin(), some_logits.end(), logits.begin() + begin * 3));
    }
  }
}

TEST_F(EmbeddedImagesTest, OnlyWantedRowsAreMade) {
  EmbedOptions options;
  options.kept_bytes = 0;
  const auto made = Create(options);
  ASSERT_TRUE(made.ok()) << made.status().message();
  std::vector<float> keys(kImages * 2), logits(kImages * 3);
  ASSERT_TRUE((*made)->model().Run(pixels_, kImages, keys, logits).ok());
  (*made)->Want({3, 299, 300, 599});
  for (const auto& [begin, count] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 700}, {299, 1}, {300, 400}, {4, 200}}) {
    std::vector<float> some_keys(static_cast<size_t>(count * 2), 7.0f);
    std::vector<float> some_logits(static_cast<size_t>(count * 3), 7.0f);
    ASSERT_TRUE((*made)->Make(begin, count, some_keys, some_logits).ok());
    for (int64_t row = begin; row < begin + count; ++row) {
      const bool wanted = row == 3 || row == 299 || row == 300 || row == 599;
      for (int64_t i = 0; i < 2; ++i) {
        EXPECT_EQ(some_keys[static_cast<size_t>((row - begin) * 2 + i)],
                  wanted ? keys[static_cast<size_t>(row * 2 + i)] : 0.0f);
      }
      for (int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(some_logits[static_cast<size_t>((row - begin) * 3 + i)],
                  wanted ? logits[static_cast<size_t>(row * 3 + i)] : 0.0f);
      }
    }
  }
}

TEST_F(EmbeddedImagesTest, RangeShiftsRowsLabelsAndSources) {
  EmbedOptions options;
  options.begin = 301;
  options.end = 401;
  const auto part = Create(options), all = Create();
  ASSERT_TRUE(part.ok()) << part.status().message();
  EXPECT_EQ((*part)->rows(), 100);
  EXPECT_EQ((*part)->labels().size(), 100u);
  EXPECT_EQ((*part)->labels()[0], 301 % 3);
  EXPECT_EQ((*part)->source(1), (*all)->source(302));
  std::vector<float> keys(2), logits(3), expected_keys(2), expected_logits(3);
  ASSERT_TRUE((*part)->Make(99, 1, keys, logits).ok());
  ASSERT_TRUE((*all)->Make(400, 1, expected_keys, expected_logits).ok());
  EXPECT_EQ(keys, expected_keys);
  EXPECT_EQ(logits, expected_logits);
  options.end = kImages + 1;
  EXPECT_EQ(Create(options).status().code(), ErrorCode::kInvalidArgument);
}

TEST_F(EmbeddedImagesTest, OtherShapesAndUnknownLabelsAreMismatches) {
  std::vector<int32_t> labels(kImages, 0);
  labels[5] = 3;
  ASSERT_TRUE(WriteNpy(labels_, std::span<const int32_t>(labels)).ok());
  const Status status = Create().status();
  EXPECT_EQ(status.code(), ErrorCode::kMismatch);
  EXPECT_NE(status.message().find("p.npy:5: has label 3, but the model has 3 classes"),
            std::string::npos)
      << status.message();
  Result<OnnxModel> model = OnnxModel::Open(folder_ / "net.onnx");
  ASSERT_TRUE(model.ok());
  ImageSetSource larger;
  larger.path = folder_ / "p.npy";
  larger.shape = ImageShape{3, 3, 3};
  larger.resize = 3;
  Result<ImageSet> images = ImageSet::Open(larger);
  ASSERT_TRUE(images.ok()) << images.status().message();
  EXPECT_EQ(EmbeddedImages::Create(std::move(*model), std::move(*images)).status().code(),
            ErrorCode::kMismatch);
}

}  // namespace
}  // namespace resmem
