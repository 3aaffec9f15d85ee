// A page holds what was measured over days and on several machines: nothing may take it away but
// the same step, finished again.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "reproduce/run_steps.h"

namespace resmem::cli::reproduce {
namespace {

namespace fs = std::filesystem;

class PageSafetyTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "resmem_page_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Two steps, the second of which uses the first's result where it is there; they find `found`.
  Reproduction Make(const std::string& work, double found) {
    Reproduction made;
    made.name = "trial";
    made.work = folder_ + "/" + work;
    made.output = folder_ + "/out";
    made.data = "images";
    fs::create_directories(made.work + "/steps");
    for (const char* const name : {"first", "second"}) {
      Step step;
      step.name = name;
      step.run = [found](const StepContext&) -> Result<Json> { return Json{{"found", found}}; };
      made.steps.push_back(std::move(step));
    }
    made.steps[1].uses = {"first"};
    made.write_page = [](Page* page) {
      for (const char* const name : {"first", "second"}) {
        if (page->Begin(name, name)) {
          page->Paragraph("found " + NumberText(NumberAt(page->result(name), "found"), 1));
        }
      }
    };
    return made;
  }
  Status Run(const Reproduction& reproduction, std::vector<std::string> steps) {
    StepOptions options;
    options.steps = std::move(steps);
    Console console({"resmem", "reproduce"});
    console.set_quiet(true);
    return RunSteps(reproduction, options, console).status();
  }
  std::string JsonPath() const { return folder_ + "/out/docs/results/trial.json"; }
  Json Published() const {
    Result<Json> json = ReadJson(JsonPath());
    EXPECT_TRUE(json.ok()) << json.status().message();
    return json.ok() ? *json : Json::object();
  }
  std::string PageText() const {
    std::ifstream file(folder_ + "/out/docs/results/trial.md");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
};

TEST_F(PageSafetyTest, FreshWorkFolderKeepsWhatStandsOnThePage) {
  ASSERT_TRUE(Run(Make("one", 1), {"first"}).ok());
  const Json first = At(Published(), "steps/first");
  ASSERT_TRUE(Run(Make("two", 2), {"second"}).ok());
  EXPECT_EQ(At(Published(), "steps/first"), first);
  EXPECT_EQ(NumberAt(Published(), "steps/second/result/found"), 2);
  EXPECT_NE(PageText().find("found 1.0"), std::string::npos) << PageText();
  EXPECT_NE(PageText().find("found 2.0"), std::string::npos);
}

TEST_F(PageSafetyTest, RecordOfAStepThatIsNoLongerThereIsKept) {
  ASSERT_TRUE(Run(Make("one", 1), {}).ok());
  Json published = Published();
  published["steps"]["former"] = {{"result", 7}, {"state", "finished"}};
  ASSERT_TRUE(WriteJson(JsonPath(), published).ok());
  ASSERT_TRUE(Run(Make("one", 1), {}).ok());
  EXPECT_EQ(Published(), published);
}

TEST_F(PageSafetyTest, StepFinishedAgainReplacesItsRecordAndDatesThoseThatUsedIt) {
  ASSERT_TRUE(Run(Make("one", 1), {"first", "second"}).ok());
  ASSERT_TRUE(Run(Make("two", 2), {"first"}).ok());
  EXPECT_EQ(NumberAt(Published(), "steps/first/result/found"), 2);
  EXPECT_EQ(NumberAt(Published(), "steps/second/result/found"), 1);
  EXPECT_EQ(TextAt(Published(), "steps/second/state"), "out of date");
}

TEST_F(PageSafetyTest, EachFinishedStepIsOnThePageBeforeTheNextBegins) {
  Reproduction made = Make("one", 1);
  bool seen = false;
  made.steps[1].run = [&](const StepContext&) -> Result<Json> {
    seen = NumberAt(Published(), "steps/first/result/found") == 1 &&
           PageText().find("found 1.0") != std::string::npos;
    return Status(ErrorCode::kIo, "stopped");
  };
  EXPECT_EQ(Run(made, {}).code(), ErrorCode::kIo);
  EXPECT_TRUE(seen);
}

TEST_F(PageSafetyTest, ResultsOfOtherDataOrARehearsalAreNotWrittenOver) {
  ASSERT_TRUE(Run(Make("one", 1), {}).ok());
  const Json before = Published();
  Reproduction other = Make("two", 2);
  other.data = "other images";
  const Status status = Run(other, {});
  EXPECT_EQ(status.code(), ErrorCode::kMismatch);
  EXPECT_NE(status.message().find("trial.json has data \"images\""), std::string::npos)
      << status.message();
  Reproduction quick = Make("three", 3);
  quick.quick = true;
  EXPECT_EQ(Run(quick, {}).code(), ErrorCode::kMismatch);
  EXPECT_EQ(Published(), before);
}

TEST_F(PageSafetyTest, FileThatIsNoPageIsNotWrittenOver) {
  fs::create_directories(folder_ + "/out/docs/results");
  std::ofstream(JsonPath()) << "{\"steps\": {";
  EXPECT_EQ(Run(Make("one", 1), {}).code(), ErrorCode::kCorrupt);
  std::ofstream(JsonPath()) << R"({"data": "images", "quick": false, "steps": 7})";
  EXPECT_EQ(Run(Make("one", 1), {}).code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace resmem::cli::reproduce
