#include "reproduce/step_records.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "reproduce/step_selection.h"

namespace resmem::cli::reproduce {
namespace {

namespace fs = std::filesystem;

Step Named(const std::string& name) {
  Step step;
  step.name = name;
  return step;
}

// A short run, a paper run, an analysis of whichever is there, and one that needs both.
std::vector<Step> Steps() {
  std::vector<Step> steps = {Named("short"), Named("paper"), Named("analysis"), Named("both")};
  steps[2].first_of = {"paper", "short"};
  steps[3].needs = {"short", "paper"};
  steps[3].by_default = false;
  return steps;
}

class StepRecordsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "resmem_steps_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  StepRecords Open(const std::vector<Step>& steps, const std::string& data = "images") {
    Result<StepRecords> records = StepRecords::Open(folder_, steps, data);
    EXPECT_TRUE(records.ok()) << records.status().message();
    return *records;
  }
  static void Finish(const Step& step, double found, StepRecords* records) {
    ASSERT_TRUE(records->Finish(step, Json{{"found", found}}, Json::object()).ok());
  }

  std::string folder_;
};

TEST_F(StepRecordsTest, FinishedStepIsStillFinishedWhenOpenedAgain) {
  const std::vector<Step> steps = Steps();
  StepRecords records = Open(steps);
  EXPECT_EQ(records.state("short"), StepState::kMissing);
  Finish(steps[0], 0.1, &records);
  EXPECT_EQ(records.state("short"), StepState::kFinished);
  const StepRecords again = Open(steps);
  EXPECT_EQ(again.state("short"), StepState::kFinished);
  EXPECT_EQ(NumberAt(again.result("short"), "found"), 0.1);
}

TEST_F(StepRecordsTest, AnotherSettingOrOtherDataMakeItOutOfDate) {
  std::vector<Step> steps = Steps();
  StepRecords records = Open(steps);
  Finish(steps[0], 0.1, &records);
  EXPECT_EQ(Open(steps, "other images").state("short"), StepState::kOutOfDate);
  steps[0].settings["epochs"] = 24;
  const StepRecords changed = Open(steps);
  EXPECT_EQ(changed.state("short"), StepState::kOutOfDate);
  EXPECT_TRUE(changed.result("short").is_null());
  EXPECT_EQ(NumberAt(changed.record("short"), "result/found"), 0.1);
}

TEST_F(StepRecordsTest, BetterBaseMakesItsAnalysisOutOfDate) {
  const std::vector<Step> steps = Steps();
  StepRecords records = Open(steps);
  Finish(steps[0], 0.1, &records);
  EXPECT_EQ(records.BaseOf(steps[2]), "short");
  Finish(steps[2], 1, &records);
  EXPECT_EQ(records.state("analysis"), StepState::kFinished);
  Finish(steps[1], 0.2, &records);
  EXPECT_EQ(records.BaseOf(steps[2]), "paper");
  EXPECT_EQ(records.state("analysis"), StepState::kOutOfDate);
  Finish(steps[2], 2, &records);
  EXPECT_EQ(Open(steps).state("analysis"), StepState::kFinished);
}

TEST_F(StepRecordsTest, NewResultOfANeededStepCarriesOn) {
  const std::vector<Step> steps = Steps();
  StepRecords records = Open(steps);
  Finish(steps[0], 0.1, &records);
  Finish(steps[1], 0.2, &records);
  Finish(steps[3], 3, &records);
  EXPECT_EQ(records.state("both"), StepState::kFinished);
  Finish(steps[0], 0.1, &records);
  EXPECT_EQ(records.state("both"), StepState::kFinished);  // repeated, with the same result
  Finish(steps[0], 0.15, &records);
  EXPECT_EQ(records.state("both"), StepState::kOutOfDate);
}

TEST_F(StepRecordsTest, WhatMustBeRunBeforeIsNamed) {
  const std::vector<Step> steps = Steps();
  StepRecords records = Open(steps);
  EXPECT_EQ(records.Missing(steps[2]), "analysis needs paper or short: give it in --steps as well");
  Finish(steps[0], 0.1, &records);
  EXPECT_EQ(records.Missing(steps[2]), "");
  EXPECT_EQ(records.Missing(steps[3]), "both needs paper: give it in --steps as well");
}

TEST_F(StepRecordsTest, DamagedRecordIsNamed) {
  std::ofstream(folder_ + "/short.json") << "{\"step\": \"sh";
  const Result<StepRecords> records = StepRecords::Open(folder_, Steps(), "images");
  EXPECT_EQ(records.status().code(), ErrorCode::kCorrupt);
  EXPECT_NE(records.status().message().find("short.json"), std::string::npos);
}

TEST(SelectSteps, NamesBeginningsAndAll) {
  const std::vector<Step> steps = Steps();
  const auto names = [&](const std::vector<std::string>& wanted) {
    std::string text;
    const Result<std::vector<const Step*>> selected = SelectSteps(steps, wanted);
    if (!selected.ok()) return selected.status().message();
    for (const Step* step : *selected) text += step->name + " ";
    return text;
  };
  EXPECT_EQ(names({}), "short paper analysis ");
  EXPECT_EQ(names({"all"}), "short paper analysis both ");
  EXPECT_EQ(names({"both", "short"}), "short both ");
  EXPECT_EQ(names({"pa..."}), "paper ");
  EXPECT_EQ(names({"papier"}), "there is no step 'papier'; did you mean paper?");
  EXPECT_EQ(names({"zz..."}), "there is no step 'zz...'; --list shows them");
}

TEST(Json, WhatIsNotThereIsNothing) {
  const Json json = {{"a", {{"b", {1.5, 2.5}}}}};
  EXPECT_EQ(NumberAt(json, "a/b/1"), 2.5);
  EXPECT_TRUE(std::isnan(NumberAt(json, "a/b/2")));
  EXPECT_TRUE(std::isnan(NumberAt(json, "a/x/y")));
  EXPECT_EQ(TextAt(json, "a/b"), "");
  EXPECT_EQ(ParametersAt(json, "a").k, 0);
  EXPECT_EQ(&At(json, ""), &json);
}

TEST(Json, ParametersReadBackAsTheSameBits) {
  const Parameters parameters{53, 0.7f, 1.4f};
  const Json json = Json::parse(ToJson(parameters).dump());
  EXPECT_EQ(json.dump(), "{\"k\":53,\"sigma\":0.7,\"temperature\":1.4}");
  const Parameters read = ParametersAt(json, "");
  EXPECT_EQ(read.k, 53);
  EXPECT_EQ(read.sigma, 0.7f);
  EXPECT_EQ(read.temperature, 1.4f);
}

}  // namespace
}  // namespace resmem::cli::reproduce
