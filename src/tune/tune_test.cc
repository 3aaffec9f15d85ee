#include "resmem/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "fixtures/small_memory.h"

namespace resmem {
namespace {

using namespace fixtures;

constexpr Parameters kParameters = {7, 0.9f, 1.3f};

TuneOptions SmallGrid() {
  TuneOptions options;
  options.grid = {{1, 3, 10, 40}, {0.3f, 1, 3}, {0.5f, 1, 2}};
  return options;
}

class TuneTest : public testing::Test {
 protected:
  void Build(const MemoryDescription& description) {
    predictor_.reset();
    memory_.reset();
    std::filesystem::remove_all(folder_ / "m.resmem");
    Write(folder_ / "m.resmem", description, train_.view());
    memory_ = std::make_unique<ResidualMemory>(Open(folder_ / "m.resmem"));
    predictor_ = std::make_unique<Predictor>(*memory_);
  }
  void Build() { Build(Describe(train_, kParameters)); }

  Tuning Run(const Rows& rows, const TuneOptions& options, int64_t block_rows = 0) {
    Result<Tuning> result = Tune(*predictor_, ReadRows(rows, block_rows), options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? *result : Tuning();
  }

  // Every point's counts against an evaluation of its own.
  void ExpectPointsEqualEvaluations(const Tuning& tuning, const Rows& rows, bool leave_one_out,
                                    size_t step) {
    for (size_t i = 0; i < tuning.points.size(); i += step) {
      const TuningPoint& point = tuning.points[i];
      EvaluationOptions options;
      options.parameters = point.parameters;
      options.baselines = false;
      options.leave_one_out = leave_one_out;
      const Result<Evaluation> single = Evaluate(*predictor_, ReadRows(rows), options);
      ASSERT_TRUE(single.ok()) << single.status().message();
      ASSERT_EQ(point.fixed, single->gain.fixed)
          << "k " << point.parameters.k << " sigma " << point.parameters.sigma << " T "
          << point.parameters.temperature;
      ASSERT_EQ(point.harmed, single->gain.harmed);
    }
  }

  static bool HasWarning(const Tuning& tuning, const std::string& part) {
    for (const std::string& warning : tuning.warnings) {
      if (warning.find(part) != std::string::npos) return true;
    }
    return false;
  }

  TemporaryFolder folder_;
  Problem train_ = MakeProblem(300, 5, 6, 1);
  Problem queries_ = MakeProblem(120, 5, 6, 2);
  std::unique_ptr<ResidualMemory> memory_;
  std::unique_ptr<Predictor> predictor_;
};

TEST_F(TuneTest, EveryPointCountsExactlyWhatAnEvaluationCounts) {
  Build();
  const Tuning tuning = Run(queries_.view(), {}, 50);
  EXPECT_EQ(tuning.points.size(), tuning.grid.k.size() * 20 * 20);
  ExpectPointsEqualEvaluations(tuning, queries_.view(), false, 71);
}

TEST_F(TuneTest, CountsAreExactForManyClassesAndManyNeighbors) {
  // Wide enough for several chunks of neighbors and a padded line.
  train_ = MakeProblem(500, 4, 301, 1);
  queries_ = MakeProblem(30, 4, 301, 2);
  Build();
  TuneOptions options;
  options.grid.k = {3, 100, 205, 206, 500, 900};
  options.grid.sigma = {0.05f, 0.7f, 3};
  options.grid.temperature = {0.4f, 1.7f};
  ExpectPointsEqualEvaluations(Run(queries_.view(), options), queries_.view(), false, 1);
}

TEST_F(TuneTest, CountsAreExactForEveryFormOfResiduals) {
  for (const bool sparse : {false, true}) {
    MemoryDescription description = Describe(train_, kParameters);
    description.form = sparse ? ResidualForm::kSparse : ResidualForm::kDense;
    description.top = 3;
    Build(description);
    const Tuning tuning = Run(queries_.view(), {});
    EXPECT_EQ(tuning.grid.temperature, (std::vector<float>{1.3f}));
    ExpectPointsEqualEvaluations(tuning, queries_.view(), false, 13);
  }
}

TEST_F(TuneTest, LeaveOneOutCountsAreExactToo) {
  Build();
  TuneOptions options;
  options.leave_one_out = true;
  options.grid.k = {1, 5, 50};
  options.grid.sigma = {0.3f, 1};
  options.grid.temperature = {1, 2};
  const Tuning tuning = Run(train_.view(), options);
  ExpectPointsEqualEvaluations(tuning, train_.view(), true, 1);
  EXPECT_FALSE(HasWarning(tuning, "own key"));
  const Result<Tuning> own = Tune(*predictor_, ReadMemory(*memory_), options);
  ASSERT_TRUE(own.ok()) << own.status().message();
  EXPECT_EQ(own->chosen_gain.fixed, tuning.chosen_gain.fixed);
}

TEST_F(TuneTest, NothingDependsOnThreadsOrOnTheCutIntoBlocks) {
  Build();
  TuneOptions options = SmallGrid();
  options.threads = 1;
  options.folds = 4;
  const Tuning one = Run(queries_.view(), options);
  options.threads = 3;
  const Tuning other = Run(queries_.view(), options, 9);
  ASSERT_EQ(one.points.size(), other.points.size());
  for (size_t i = 0; i < one.points.size(); ++i) {
    ASSERT_EQ(one.points[i].fixed, other.points[i].fixed);
    ASSERT_EQ(one.points[i].harmed, other.points[i].harmed);
  }
  EXPECT_EQ(one.chosen.k, other.chosen.k);
  EXPECT_EQ(one.chosen.sigma, other.chosen.sigma);
  EXPECT_EQ(one.chosen.temperature, other.chosen.temperature);
  EXPECT_EQ(one.cross_validated_gain->fixed, other.cross_validated_gain->fixed);
  EXPECT_EQ(one.calibrator, other.calibrator);
  EXPECT_EQ(one.calibrated_nll, other.calibrated_nll);
}

TEST_F(TuneTest, TheChoiceIsTheBestPointAndItsGainIsMeasured) {
  Build();
  const Tuning tuning = Run(queries_.view(), SmallGrid());
  for (const TuningPoint& point : tuning.points) {
    EXPECT_LE(point.fixed - point.harmed, tuning.chosen_gain.fixed - tuning.chosen_gain.harmed);
  }
  EXPECT_EQ(tuning.chosen_gain.total, queries_.rows);
  EXPECT_GT(tuning.chosen_gain.gain, 0.1) << "the fixture's memory should clearly help";
  EvaluationOptions options;
  options.parameters = tuning.chosen;
  const Result<Evaluation> at_choice = Evaluate(*predictor_, ReadRows(queries_.view()), options);
  EXPECT_EQ(at_choice->gain.both_right, tuning.chosen_gain.both_right);
  EXPECT_EQ(at_choice->gain.both_wrong, tuning.chosen_gain.both_wrong);
}

TEST_F(TuneTest, TheCarefulObjectiveKeepsFprBelowItsLimit) {
  Build();
  TuneOptions options = SmallGrid();
  options.objective = Objective::kTprUnderFpr;
  options.fpr_limit = 0.02;
  const Tuning tuning = Run(queries_.view(), options);
  EXPECT_LT(tuning.chosen_gain.fpr, 0.02);
  for (const TuningPoint& point : tuning.points) {
    if (point.harmed >= 0.02 * 120) continue;
    EXPECT_LE(point.fixed, tuning.chosen_gain.fixed);
  }
}

TEST_F(TuneTest, FallsBackToTheBaseWhereEveryPointHarms) {
  for (int32_t& label : train_.labels) label = (label + 1) % 6;
  Build();
  for (const Objective objective : {Objective::kGain, Objective::kTprUnderFpr}) {
    TuneOptions options;
    options.objective = objective;
    options.grid.k = {5, 20};
    options.grid.sigma = {1};
    options.grid.temperature = {1};
    options.folds = 3;
    const Tuning tuning = Run(queries_.view(), options);
    EXPECT_EQ(tuning.chosen.k, 0);
    EXPECT_EQ(tuning.chosen_gain.fixed + tuning.chosen_gain.harmed, 0);
    EXPECT_EQ(tuning.chosen_gain.total, queries_.rows);
    EXPECT_TRUE(HasWarning(tuning, "the base alone"));
    EXPECT_EQ(tuning.chosen.temperature, 1) << "the base's own probabilities";
  }
}

TEST_F(TuneTest, AFrozenMemoryKeepsItsTemperatureWhenItFallsBackToTheBase) {
  for (int32_t& label : train_.labels) label = (label + 1) % 6;
  MemoryDescription description = Describe(train_, kParameters);
  description.form = ResidualForm::kDense;
  Build(description);
  TuneOptions options;
  options.grid = {{5, 20}, {1}, {}};
  const Tuning tuning = Run(queries_.view(), options);
  EXPECT_EQ(tuning.chosen.k, 0);
  EXPECT_EQ(tuning.chosen.temperature, kParameters.temperature);
}

TEST_F(TuneTest, RowsMarkedTestAreRefusedWithTheirNumberAndTheFirst) {
  Build();
  std::vector<Role> roles(static_cast<size_t>(queries_.rows), Role::kUnmarked);
  roles[31] = roles[90] = Role::kTest;
  Rows rows = queries_.view();
  rows.roles = roles;
  const Status status = Tune(*predictor_, ReadRows(rows, 40), {}).status();
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.message().find("2 rows are marked test, the first is row 31"), std::string::npos)
      << status.message();
}

TEST_F(TuneTest, OfASplitOnlyValidationRowsAreUsed) {
  Build();
  std::vector<Role> roles;
  for (int64_t i = 0; i < queries_.rows; ++i) {
    roles.push_back(i < 30 ? Role::kTest : i % 2 ? Role::kValidation : Role::kTrain);
  }
  Rows rows = queries_.view();
  rows.roles = roles;
  TuneOptions options;
  options.grid.k = {3, 9};
  options.grid.sigma = {0.5f, 1};
  options.grid.temperature = {1};
  const Tuning tuning = Run(rows, options, 20);
  EXPECT_EQ(tuning.rows, 45);
  Problem validation{45, 5, 6, {}, {}, {}};
  for (int64_t i = 31; i < queries_.rows; i += 2) {
    validation.labels.push_back(queries_.labels[static_cast<size_t>(i)]);
    const float* key = rows.keys.row(i);
    validation.keys.insert(validation.keys.end(), key, key + 5);
    validation.logits.insert(validation.logits.end(), rows.logits.row(i), rows.logits.row(i) + 6);
  }
  ExpectPointsEqualEvaluations(tuning, validation.view(), false, 1);
}

TEST_F(TuneTest, RowsBeforeTheFirstValidationRowCostNothing) {
  Build();
  std::vector<Role> roles(static_cast<size_t>(queries_.rows), Role::kTrain);
  std::fill(roles.end() - 20, roles.end(), Role::kValidation);
  Rows rows = queries_.view();
  rows.roles = roles;
  TuneOptions options = SmallGrid();
  // Room for the grid's sums and for the 20 rows, not for 50.
  options.folds = 0;
  options.memory_limit = 20 * (4 * 6 + 12 * 40 + 8 + 4 * queries_.dim);
  EXPECT_EQ(Run(rows, options, 50).rows, 20);
}

// Asks to stop at the first word from the grid.
class StopInGrid : public Progress {
 public:
  void Report(std::string_view stage, int64_t done, int64_t) override {
    if (stage == "grid" && first_done == 0) first_done = done;
  }
  bool Cancelled() const override { return first_done > 0; }
  int64_t first_done = 0;
};

TEST_F(TuneTest, StopsWithinABlockOfRows) {
  Build();
  queries_ = MakeProblem(1500, 5, 6, 2);
  StopInGrid progress;
  TuneOptions options = SmallGrid();
  options.progress = &progress;
  EXPECT_EQ(Tune(*predictor_, ReadRows(queries_.view()), options).status().code(),
            ErrorCode::kCancelled);
  EXPECT_LE(progress.first_done, 512);
}

TEST_F(TuneTest, FoldsGiveAnHonestEstimateOverAllRows) {
  Build();
  TuneOptions options = SmallGrid();
  options.folds = 5;
  const Tuning tuning = Run(queries_.view(), options);
  ASSERT_TRUE(tuning.cross_validated_gain.has_value());
  EXPECT_EQ(tuning.cross_validated_gain->total, queries_.rows);
  // Chosen on other rows than it is judged on, it can only lose against the best in hindsight.
  EXPECT_LE(tuning.cross_validated_gain->gain, tuning.chosen_gain.gain);
  EXPECT_GT(tuning.cross_validated_gain->gain, 0);
}

TEST_F(TuneTest, WithASinglePointFoldsGiveTheGainItself) {
  Build();
  TuneOptions options;
  options.grid = {{5}, {0.7f}, {1}};
  options.folds = 7;
  const Tuning tuning = Run(queries_.view(), options);
  EXPECT_EQ(tuning.cross_validated_gain->fixed, tuning.chosen_gain.fixed);
  EXPECT_EQ(tuning.cross_validated_gain->harmed, tuning.chosen_gain.harmed);
}

TEST_F(TuneTest, TheCalibratorHasTheLowestLossOfAll) {
  Build();
  const Tuning tuning = Run(queries_.view(), SmallGrid());
  for (const std::string_view name : CalibratorNames()) {
    MemoryDescription description = memory_->description();
    description.parameters = tuning.chosen;
    description.calibrator = std::string(name);
    ASSERT_TRUE(UpdateDescription(folder_ / "m.resmem", description).ok());
    const ResidualMemory memory = Open(folder_ / "m.resmem");
    const Result<Evaluation> result = Evaluate(Predictor(memory), ReadRows(queries_.view()));
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_LE(tuning.calibrated_nll, result->resmem_calibration.nll + 1e-12) << name;
  }
  ASSERT_TRUE(
      UpdateDescription(folder_ / "m.resmem", ApplyTuning(memory_->description(), tuning)).ok());
  const ResidualMemory memory = Open(folder_ / "m.resmem");
  EvaluationOptions by_resmem;
  by_resmem.method = Method::kResMem;
  const Result<Evaluation> result =
      Evaluate(Predictor(memory), ReadRows(queries_.view()), by_resmem);
  EXPECT_NEAR(result->resmem_calibration.nll, tuning.calibrated_nll, 1e-12);
}

TEST_F(TuneTest, TheMemoryRemembersTheChoiceAndASmallTrace) {
  Build();
  TuneOptions options;
  options.folds = 2;
  const Tuning tuning = Run(queries_.view(), options);
  ASSERT_TRUE(
      UpdateDescription(folder_ / "m.resmem", ApplyTuning(memory_->description(), tuning)).ok());
  const ResidualMemory memory = Open(folder_ / "m.resmem");
  EXPECT_TRUE(memory.description().tuned);
  EXPECT_EQ(memory.description().parameters.k, tuning.chosen.k);
  EXPECT_EQ(memory.description().parameters.sigma, tuning.chosen.sigma);
  EXPECT_EQ(memory.description().parameters.temperature, tuning.chosen.temperature);
  const std::string& note = memory.description().notes.at("tuning");
  EXPECT_LT(note.size(), 5000u);
  const nlohmann::json trace = nlohmann::json::parse(note);
  EXPECT_EQ(trace["best"][0]["k"], tuning.chosen.k);
  EXPECT_EQ(trace["grid"]["temperature"][3], 0.4);
  EXPECT_EQ(trace["chosen_gain"]["fixed"], tuning.chosen_gain.fixed);
  EXPECT_EQ(trace["cross_validated_gain"]["rows"], queries_.rows);
}

TEST_F(TuneTest, WarnsThatRowsFindThemselves) {
  Build();
  EXPECT_TRUE(HasWarning(Run(train_.view(), SmallGrid()), "300 of 300 rows have their own key"));
}

TEST_F(TuneTest, RefusesWhatCannotBeTuned) {
  Build();
  const Problem few = queries_;
  const RowSource rows = ReadRows(few.view());
  TuneOptions options;
  options.folds = 1;
  EXPECT_EQ(Tune(*predictor_, rows, options).status().code(), ErrorCode::kInvalidArgument);
  options.folds = 121;
  EXPECT_EQ(Tune(*predictor_, rows, options).status().code(), ErrorCode::kInvalidArgument);
  queries_ = MakeProblem(1200, 5, 6, 2);
  options.folds = 1001;
  options.grid = {{3}, {1}, {1}};
  EXPECT_EQ(Tune(*predictor_, ReadRows(queries_.view()), options).status().code(),
            ErrorCode::kInvalidArgument);
  options.folds = 1000;
  EXPECT_TRUE(Tune(*predictor_, ReadRows(queries_.view()), options).ok());
  options = {};
  options.folds = 1000;
  options.memory_limit = 100 << 20;  // 8,000 points
  EXPECT_EQ(Tune(*predictor_, ReadRows(queries_.view()), options).status().code(),
            ErrorCode::kResourceExhausted);
  options = {};
  options.fpr_limit = 0;
  EXPECT_EQ(Tune(*predictor_, rows, options).status().code(), ErrorCode::kInvalidArgument);
  for (const int64_t megabytes : {int64_t{0}, int64_t{-1}, TuneOptions::kMostFitMegabytes + 1}) {
    options = {};
    options.fit_megabytes = megabytes;
    EXPECT_EQ(Tune(*predictor_, rows, options).status().code(), ErrorCode::kInvalidArgument);
  }
  options = {};
  options.grid.sigma = {0};
  EXPECT_EQ(Tune(*predictor_, rows, options).status().code(), ErrorCode::kInvalidArgument);
  options = {};
  options.memory_limit = 1000;
  EXPECT_EQ(Tune(*predictor_, rows, options).status().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(Tune(*predictor_, ReadRows(queries_.view().Slice(0, 0)), {}).status().code(),
            ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
