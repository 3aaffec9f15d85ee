#include "memory/manifest/answer.h"

#include <gtest/gtest.h>

#include <limits>

#include "fixtures/every_memory.h"
#include "memory/manifest/manifest_json.h"

namespace resmem {
namespace {

Blend SomeBlend() {
  Blend blend;
  blend.parameters = {17, 0.31f, 1.1f};
  blend.prior = 0.7f;
  blend.base_temperature = 1.3f;
  for (size_t j = 0; j < Blend::kParts; ++j) {
    for (size_t m = 0; m <= Blend::kGates; ++m) {
      blend.coefficients[j][m] = 0.1f * static_cast<float>(j) - 0.3f * static_cast<float>(m);
    }
  }
  blend.gate_means = {0.1f, -0.2f, 2.5f};
  blend.gate_deviations = {0.5f, 0.25f, 0.125f};
  for (int i = 0; i <= 100; ++i) blend.distances.push_back(0.01f * static_cast<float>(i));
  for (int i = 0; i <= 100; ++i) blend.spreads.push_back(0.02f * static_cast<float>(i));
  return blend;
}

TEST(Answer, IsReadBackAsItWasWritten) {
  for (const Method answer : {Method::kBlend, Method::kLogitBoost, Method::kBase}) {
    Manifest manifest;
    manifest.description = Small();
    manifest.description.calibrator = "simplex";
    manifest.description.answer = answer;
    if (answer != Method::kBase) manifest.description.blend = SomeBlend();
    const Result<std::string> json = ManifestToJson(manifest);
    ASSERT_TRUE(json.ok()) << json.status().message();
    const Result<Manifest> read = ManifestFromJson(*json);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->description.answer, answer);
    EXPECT_EQ(read->description.blend, manifest.description.blend);
    EXPECT_EQ(read->description.calibrator, "simplex");
    // What a program from before the answer reads: a calibrator that it does not know.
    EXPECT_EQ(Json::parse(*json)["calibrator"], "answer");
  }
}

TEST(Answer, OfAnUntunedMemoryLeavesTheManifestAsItWas) {
  Manifest manifest;
  manifest.description = Small();
  const Json json = Json::parse(ManifestToJson(manifest).value());
  EXPECT_FALSE(json.contains("answer"));
  EXPECT_EQ(json["calibrator"], "clip");
}

TEST(Answer, ThatIsBrokenOrOfALaterProgramIsRefused) {
  Manifest manifest;
  manifest.description = Small();
  manifest.description.answer = Method::kBlend;
  manifest.description.blend = SomeBlend();
  const Json good = Json::parse(ManifestToJson(manifest).value());
  const auto code = [&](const auto& change) {
    Json json = good;
    change(&json["answer"]);
    return ManifestFromJson(json.dump()).status().code();
  };
  EXPECT_EQ(code([](Json*) {}), ErrorCode::kOk);
  EXPECT_EQ(code([](Json* a) { (*a)["method"] = "oracle"; }), ErrorCode::kUnsupported);
  EXPECT_EQ(code([](Json* a) { a->erase("prior"); }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](Json* a) { (*a)["prior"] = 0; }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](Json* a) { (*a)["sigma"] = -1; }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](Json* a) { (*a)["base_temperature"] = 1e39; }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](Json* a) { (*a)["coefficients"].erase(3); }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](Json* a) { (*a)["gate_deviations"][1] = 0; }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](Json* a) { (*a)["distances"][5] = 9; }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](Json* a) { (*a)["spreads"][5] = 9; }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](Json* a) { a->erase("spreads"); }), ErrorCode::kOk);  // from before
  EXPECT_EQ(code([](Json* a) { *a = "blend"; }), ErrorCode::kCorrupt);
}

TEST(Answer, AndBlendBelongTogether) {
  MemoryDescription description = Small();
  description.answer = Method::kBlend;
  EXPECT_EQ(CheckAnswer(description).code(), ErrorCode::kInvalidArgument);
  description.blend = SomeBlend();
  EXPECT_TRUE(CheckAnswer(description).ok());
  description.answer = Method::kResMem;
  EXPECT_EQ(CheckAnswer(description).code(), ErrorCode::kInvalidArgument);
  description.answer = Method::kKnn;
  EXPECT_EQ(CheckAnswer(description).code(), ErrorCode::kInvalidArgument);
  // Frozen residuals have one temperature.
  description.answer = Method::kLogitBoost;
  description.form = ResidualForm::kDense;
  EXPECT_EQ(CheckAnswer(description).code(), ErrorCode::kInvalidArgument);
  description.parameters.temperature = description.blend->parameters.temperature;
  EXPECT_TRUE(CheckAnswer(description).ok());
}

}  // namespace
}  // namespace resmem
