#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "onnx/manifest_json.h"

namespace resmem {
namespace {

ModelManifest Images() {
  ModelManifest manifest;
  manifest.input = "image";
  manifest.channels = 3;
  manifest.height = 32;
  manifest.width = 24;
  manifest.mean = {0.507f, 0.4865f, 0.4409f};
  manifest.deviation = {0.2673f, 0.2564f, 0.2761f};
  manifest.resize = 40;
  manifest.embedding = "pooled";
  manifest.logits = "logits";
  manifest.dim = 64;
  manifest.classes = 2;
  manifest.class_names = {"cat", "dögg"};
  manifest.network = "resnet8";
  return manifest;
}

ModelManifest Table() {
  ModelManifest manifest;
  manifest.input = "x";
  manifest.columns = 13;
  manifest.embedding = "h";
  manifest.logits = "y";
  manifest.dim = 8;
  manifest.classes = 3;
  return manifest;
}

TEST(ModelManifest, ComesBackAsItWasWritten) {
  const fixtures::TemporaryFolder folder;
  for (const ModelManifest& written : {Images(), Table()}) {
    const std::string path = folder / "net.onnx";
    ASSERT_TRUE(WriteModelManifest(path, written).ok());
    const auto read = ReadModelManifest(path);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*ModelManifestToJson(*read), *ModelManifestToJson(written));
    EXPECT_EQ(read->mean, written.mean);
    EXPECT_EQ(read->class_names, written.class_names);
    EXPECT_EQ(read->takes_images(), written.takes_images());
  }
}

TEST(ModelManifest, LiesBesideTheGraph) {
  EXPECT_EQ(ManifestPath("a/model.onnx"), "a/model.json");
  EXPECT_EQ(ManifestPath("model.onnx"), "model.json");
  EXPECT_EQ(ManifestPath("a/model.v2.onnx"), "a/model.v2.json");
  EXPECT_EQ(ManifestPath("a.b/net"), "a.b/net.json");
}

TEST(ModelManifest, WritesNumbersAsAUserWould) {
  EXPECT_NE(ModelManifestToJson(Images())->find("0.507,"), std::string::npos);
}

TEST(ModelManifest, RefusesWhatContradictsItself) {
  const std::vector<std::function<void(ModelManifest&)>> mistakes = {
      [](auto& m) { m.input.clear(); },
      [](auto& m) { m.height = 0; },
      [](auto& m) { m.width = int64_t{1} << 40; },
      [](auto& m) { m.channels = 4096, m.height = 65536, m.width = 65536; },
      [](auto& m) { m.columns = 4; },
      [](auto& m) { m.channels = 0; },
      [](auto& m) { m.mean.pop_back(); },
      [](auto& m) { m.deviation[1] = 0; },
      [](auto& m) { m.deviation[1] = -1; },
      [](auto& m) { m.mean[0] = std::numeric_limits<float>::quiet_NaN(); },
      [](auto& m) { m.resize = 31; },
      [](auto& m) { m.embedding = m.logits; },
      [](auto& m) { m.embedding = std::string("a\0b", 3); },
      [](auto& m) { m.dim = 0; },
      [](auto& m) { m.classes = 3; },
  };
  EXPECT_TRUE(CheckManifest(Images()).ok());
  for (size_t i = 0; i < mistakes.size(); ++i) {
    ModelManifest manifest = Images();
    mistakes[i](manifest);
    EXPECT_EQ(CheckManifest(manifest).code(), ErrorCode::kInvalidArgument) << "mistake " << i;
  }
}

TEST(ModelManifest, RefusesEveryTruncation) {
  const std::string json = *ModelManifestToJson(Images());
  for (size_t size = 0; size + 2 < json.size(); ++size) {
    EXPECT_EQ(ModelManifestFromJson(json.substr(0, size)).status().code(), ErrorCode::kCorrupt);
  }
}

TEST(ModelManifest, RefusesALaterVersionAndDeepNesting) {
  EXPECT_EQ(ModelManifestFromJson(R"({"resmem_model": 2})").status().code(), ErrorCode::kTooNew);
  EXPECT_EQ(ModelManifestFromJson(R"({"resmem_model": 0})").status().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(ModelManifestFromJson(std::string(100000, '[')).status().code(), ErrorCode::kCorrupt);
}

TEST(ModelManifest, IsNamedWhereItIsMissing) {
  const fixtures::TemporaryFolder folder;
  const std::string path = folder / "net.onnx";
  EXPECT_EQ(ReadModelManifest(path).status().code(), ErrorCode::kNotFound);
  fixtures::WriteBytes(path, "graph");
  const Status status = ReadModelManifest(path).status();
  EXPECT_EQ(status.code(), ErrorCode::kNotFound);
  EXPECT_NE(status.message().find("resmem model prepare"), std::string::npos);
}

TEST(ModelManifest, FingerprintKnowsNumbersButNotNames) {
  const fixtures::TemporaryFolder folder;
  const std::string path = folder / "net.onnx";
  const auto fingerprint = [&](const ModelManifest& manifest) {
    EXPECT_TRUE(WriteModelManifest(path, manifest).ok());
    return *FingerprintModel(path);
  };
  fixtures::WriteBytes(path, "graph");
  const Fingerprint first = fingerprint(Images());
  EXPECT_EQ(first.digest.size(), 32u);
  EXPECT_EQ(first.layer, "pooled");

  ModelManifest other = Images();
  other.class_names[0] = "lion";
  other.network = "another";
  EXPECT_EQ(fingerprint(other), first);
  other.mean[0] = 0.5071f;
  EXPECT_NE(fingerprint(other).digest, first.digest);
  fixtures::WriteBytes(path, "Graph");
  EXPECT_NE(fingerprint(Images()).digest, first.digest);
}

}  // namespace
}  // namespace resmem
