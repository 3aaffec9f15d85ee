// JSON documents read back, and the page against documents that were tampered with.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/sample.h"
#include "support/random.h"

namespace resmem {
namespace {

using nlohmann::json;

std::vector<std::string> AllDocuments() {
  const RunInfo run = sample::Run();
  const std::vector<std::string> names = sample::ClassNames();
  return {sample::Combined(),
          EvaluationJson(sample::Classification(), run),
          EvaluationJson(sample::Regression(), run),
          TuningJson(sample::ClassificationTuning(), run),
          TuningJson(sample::RegressionTuning(), run),
          ExamplesJson(sample::TextExamples(), "rule", names, run),
          ExplanationJson(sample::ImageExamples().front().explanation, names, run),
          FiguresJson("Figures", sample::Figures(), run),
          SimulationJson(sample::Simulation(), run),
          MemoryJson(*run.memory, run)};
}

TEST(Documents, NumbersReadBackAsTheSameBits) {
  Evaluation evaluation = sample::Classification();
  evaluation.parameters.sigma = 0.1f + 0.2f;
  evaluation.gain.gain = 1.0 / 3.0;
  evaluation.gain.interval.low = -std::numeric_limits<double>::denorm_min();
  evaluation.mean_residual_mass = std::nextafter(0.1, 1.0);
  const json document = json::parse(EvaluationJson(evaluation, sample::Run()));
  EXPECT_EQ(document["parameters"]["sigma"].get<float>(), evaluation.parameters.sigma);
  EXPECT_EQ(document["gain"]["gain"].get<double>(), evaluation.gain.gain);
  EXPECT_EQ(document["gain"]["low"].get<double>(), evaluation.gain.interval.low);
  EXPECT_EQ(document["mean_residual_mass"].get<double>(), evaluation.mean_residual_mass);
  EXPECT_EQ(document["run"]["seeds"]["base/<b>~"].get<uint64_t>(), 18446744073709551615u);
  EXPECT_NE(EvaluationJson(sample::Classification(), sample::Run()).find("\"sigma\":0.7,"),
            std::string::npos);
}

TEST(Documents, WhatIsNotFiniteIsNull) {
  Evaluation evaluation = sample::Classification();
  evaluation.base_calibration.nll = std::numeric_limits<double>::infinity();
  evaluation.search_seconds = std::numeric_limits<double>::quiet_NaN();
  const json document = json::parse(EvaluationJson(evaluation, sample::Run()));
  EXPECT_TRUE(document["calibration"]["base"]["nll"].is_null());
  EXPECT_TRUE(document["search_seconds"].is_null());
}

TEST(Documents, InvalidUtf8InNamesDoesNotBreakThem) {
  Evaluation evaluation = sample::Classification();
  evaluation.classes[0].name = "\xff\xfe\x80 broken";
  const std::string text = EvaluationJson(evaluation, sample::Run());
  EXPECT_TRUE(json::accept(text));
  EXPECT_TRUE(RenderReport(text).ok());
}

TEST(Documents, AreOneLine) {
  for (const std::string& document : AllDocuments()) {
    EXPECT_EQ(document.find('\n'), std::string::npos);
  }
}

TEST(Documents, LedgerOfManyClassesKeepsThoseThatMatter) {
  Explanation explanation;
  explanation.base.assign(32128, 1e-6);
  explanation.score.assign(32128, 1e-6f);
  explanation.rounding.assign(32128, 0);
  explanation.base[31999] = 0.9;
  explanation.base_prediction = 31999;
  explanation.prediction = 17;
  const json ledger = json::parse(ExplanationJson(explanation, {}, sample::Run()))["ledger"];
  const auto outputs = ledger["outputs"].get<std::vector<int64_t>>();
  EXPECT_EQ(outputs.size(), 1024u);
  EXPECT_TRUE(std::is_sorted(outputs.begin(), outputs.end()));
  EXPECT_NE(std::find(outputs.begin(), outputs.end(), 17), outputs.end());
  EXPECT_EQ(outputs.back(), 31999);
}

TEST(CombineJson, PartsOfACombinedDocumentAreTakenOver) {
  const std::vector<std::string> documents = {sample::Combined(),
                                              MemoryJson(*sample::Run().memory, sample::Run())};
  const Result<std::string> combined = CombineJson("both", documents);
  ASSERT_TRUE(combined.ok());
  EXPECT_EQ(json::parse(*combined)["parts"].size(), 5u);
  EXPECT_TRUE(RenderReport(*combined).ok());
}

TEST(CombineJson, StrangersAreRefused) {
  for (const char* text : {"", "[]", "{}", "{\"schema\": 3}", "{\"schema\": \"other\"}"}) {
    const std::vector<std::string> documents = {text};
    EXPECT_EQ(CombineJson("x", documents).status().code(), ErrorCode::kBadData) << text;
  }
}

TEST(RenderReport, NamesFromDataAreNeverMarkup) {
  for (const std::string& document : AllDocuments()) {
    const Result<std::string> page = RenderReport(document);
    ASSERT_TRUE(page.ok()) << page.status().message();
    EXPECT_EQ(page->find("<script"), std::string::npos);
    EXPECT_EQ(page->find("<i>names"), std::string::npos);
  }
}

TEST(RenderReport, LaterVersionIsToldFromAStranger) {
  json document = json::parse(MemoryJson(*sample::Run().memory, sample::Run()));
  document["schema"] = "resmem.memory.v2";
  EXPECT_EQ(RenderReport(document.dump()).status().code(), ErrorCode::kTooNew);
  for (const char* name : {"resmem.other.v1", "", "resmem.memory.vx", "resmem.report.v1x"}) {
    document["schema"] = name;
    EXPECT_EQ(RenderReport(document.dump()).status().code(), ErrorCode::kBadData) << name;
  }
}

TEST(RenderReport, FieldsThatContradictEachOtherAreRefused) {
  const auto refuse = [](const json& document, const char* field) {
    const Result<std::string> page = RenderReport(document.dump());
    ASSERT_FALSE(page.ok()) << field;
    EXPECT_NE(page.status().message().find(field), std::string::npos) << page.status().message();
  };
  json document = json::parse(EvaluationJson(sample::Classification(), sample::Run()));
  document["gain"]["fixed"] = 413;
  refuse(document, "/gain/total");
  document = json::parse(EvaluationJson(sample::Classification(), sample::Run()));
  document["classes"][2]["fixed"] = 1001;
  refuse(document, "/classes/2/fixed");
  document = json::parse(TuningJson(sample::ClassificationTuning(), sample::Run()));
  document["points"]["harmed"].erase(0);
  refuse(document, "/points/harmed");
  document = json::parse(TuningJson(sample::ClassificationTuning(), sample::Run()));
  document["chosen"]["k"] = 54;
  refuse(document, "/chosen/k");
}

TEST(RenderReport, TuningThatKeepsTheBaseHasAPage) {
  Tuning tuning = sample::ClassificationTuning();
  tuning.chosen.k = 0;
  tuning.chosen_gain = MakePairedGain(0, 0, 4200, 800);
  const Result<std::string> page = RenderReport(TuningJson(tuning, sample::Run()));
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_NE(page->find("better than the base alone"), std::string::npos);
}

TEST(RenderReport, ImagesThatAreNoPngAreRefused) {
  const std::vector<std::string> names = sample::ClassNames();
  json document = json::parse(ExamplesJson(sample::ImageExamples(), "rule", names, sample::Run()));
  document["examples"][0]["image"]["png"] = "\" onerror=\"alert(1)";
  EXPECT_EQ(RenderReport(document.dump()).status().code(), ErrorCode::kBadData);
  document["examples"][0]["image"]["png"] = "PHN2Zz4=";  // <svg>
  EXPECT_EQ(RenderReport(document.dump()).status().code(), ErrorCode::kBadData);
}

// Every place in a document, as JSON pointers; of long lists the first two items.
void CollectPlaces(const json& value, const std::string& path, std::vector<std::string>* places) {
  if (!path.empty()) places->push_back(path);
  if (value.is_object()) {
    for (const auto& [name, item] : value.items()) {
      if (name.find_first_of("~/") == std::string::npos) {
        CollectPlaces(item, path + "/" + name, places);
      }
    }
  } else if (value.is_array()) {
    for (size_t i = 0; i < std::min<size_t>(2, value.size()); ++i) {
      CollectPlaces(value[i], path + "/" + std::to_string(i), places);
    }
  }
}

// Each field in turn gone, or something else: a page or one clear sentence, never a crash.
TEST(RenderReport, SurvivesEveryFieldReplaced) {
  const std::vector<json> replacements = {nullptr,
                                          true,
                                          -1,
                                          0,
                                          1.5,
                                          1e300,
                                          "text",
                                          json::array(),
                                          json::object(),
                                          std::numeric_limits<uint64_t>::max(),
                                          json::array({nullptr, "x"})};
  int64_t refused = 0;
  const std::vector<std::string> documents = AllDocuments();
  for (size_t i = 1; i < documents.size(); ++i) {  // the first is made of the others
    const json original = json::parse(documents[i]);
    std::vector<std::string> places;
    CollectPlaces(original, "", &places);
    Random random(i);
    for (const std::string& place : places) {
      json document = original;
      const json::json_pointer pointer(place);
      document[pointer] = replacements[random.Below(replacements.size())];
      const Result<std::string> page = RenderReport(document.dump());
      if (page.ok()) continue;
      ++refused;
      EXPECT_FALSE(page.status().message().empty());
      EXPECT_LT(page.status().message().size(), 600u);
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(RenderReport, RequiredFieldsThatAreMissingAreNamed) {
  const json original = json::parse(EvaluationJson(sample::Classification(), sample::Run()));
  for (const char* field :
       {"run", "rows", "methods", "gain", "calibration", "classes", "warnings"}) {
    json document = original;
    document.erase(field);
    const Result<std::string> page = RenderReport(document.dump());
    ASSERT_FALSE(page.ok()) << field;
    EXPECT_NE(page.status().message().find("field /" + std::string(field) + " is missing"),
              std::string::npos)
        << page.status().message();
  }
}

TEST(WriteReport, LeavesNoFileForABadDocument) {
  const std::string path = testing::TempDir() + "/resmem_report_of_nothing.html";
  EXPECT_FALSE(WriteReport("{}", path).ok());
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace resmem
