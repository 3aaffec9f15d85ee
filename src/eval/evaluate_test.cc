#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fixtures/small_memory.h"
#include "resmem/evaluation.h"

namespace resmem {
namespace {

using namespace fixtures;

constexpr Parameters kParameters = {7, 0.9f, 1.3f};

class EvaluateTest : public testing::Test {
 protected:
  void Build(const MemoryDescription& description, const Rows& rows) {
    Write(folder_ / "m.resmem", description, rows);
    memory_ = std::make_unique<ResidualMemory>(Open(folder_ / "m.resmem"));
    predictor_ = std::make_unique<Predictor>(*memory_);
  }
  void Build() { Build(Describe(train_, kParameters), train_.view()); }

  Evaluation Run(const Rows& rows, const EvaluationOptions& options = {}, int64_t block_rows = 0) {
    Result<Evaluation> result = Evaluate(*predictor_, ReadRows(rows, block_rows), options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? *result : Evaluation();
  }

  // Answers of one method, taken from the predictor itself.
  std::vector<int64_t> Answers(const Problem& problem, Method method, float lambda = 0) {
    PredictOptions options = predictor_->DefaultOptions();
    options.method = method;
    options.lambda = lambda;
    std::vector<float> scores(problem.logits.size());
    const Status status =
        predictor_->Predict(problem.view().keys, problem.view().logits, options, scores);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<int64_t> answers;
    for (int64_t q = 0; q < problem.rows; ++q) {
      answers.push_back(
          ArgMax(MatrixView(scores.data(), problem.rows, problem.classes).row_span(q)));
    }
    return answers;
  }

  static bool HasWarning(const Evaluation& evaluation, const std::string& part) {
    for (const std::string& warning : evaluation.warnings) {
      if (warning.find(part) != std::string::npos) return true;
    }
    return false;
  }

  TemporaryFolder folder_;
  Problem train_ = MakeProblem(400, 5, 6, 1);
  Problem queries_ = MakeProblem(150, 5, 6, 2);
  std::unique_ptr<ResidualMemory> memory_;
  std::unique_ptr<Predictor> predictor_;
};

TEST_F(EvaluateTest, NeighborsFoundElsewhereAreUsedAsTheyAre) {
  Build();
  const Evaluation searched = Run(queries_.view());
  Neighbors all;
  ASSERT_TRUE(predictor_->FindNeighbors(queries_.view().keys, 7, {}, 1, nullptr, &all).ok());
  EvaluationOptions options;
  bool reversed = false;
  options.neighbors = [&](int64_t begin, int64_t count, int64_t k, Neighbors* out) -> Status {
    *out = {count, k, {}, {}};
    for (int64_t q = begin; q < begin + count; ++q) {
      const int64_t from = reversed ? all.queries - 1 - q : q;
      const auto rows = all.rows_of(from).first(static_cast<size_t>(k));
      const auto distances = all.distances_of(from).first(static_cast<size_t>(k));
      out->rows.insert(out->rows.end(), rows.begin(), rows.end());
      out->distances.insert(out->distances.end(), distances.begin(), distances.end());
    }
    return {};
  };
  const Evaluation given = Run(queries_.view(), options, /*block_rows=*/40);
  EXPECT_EQ(given.gain.fixed, searched.gain.fixed);
  EXPECT_EQ(given.gain.harmed, searched.gain.harmed);
  EXPECT_EQ(given.resmem_calibration.nll, searched.resmem_calibration.nll);
  reversed = true;
  EXPECT_NE(Run(queries_.view(), options).resmem_calibration.nll, searched.resmem_calibration.nll);
  options.leave_one_out = true;
  EXPECT_EQ(Evaluate(*predictor_, ReadRows(queries_.view()), options).status().code(),
            ErrorCode::kInvalidArgument);
}

TEST_F(EvaluateTest, EveryMethodCountsWhatItsOwnPredictionsSay) {
  Build();
  const Evaluation result = Run(queries_.view());
  ASSERT_EQ(result.methods.size(), 3u + 11u + 1u);
  EXPECT_EQ(result.methods.front().method, Method::kBase);
  EXPECT_EQ(result.methods.back().method, Method::kResMem);
  const std::vector<int64_t> base = Answers(queries_, Method::kBase);
  for (const MethodResult& method : result.methods) {
    const std::vector<int64_t> answers = Answers(queries_, method.method, method.lambda);
    int64_t correct = 0, fixed = 0, harmed = 0;
    for (size_t i = 0; i < answers.size(); ++i) {
      const bool right = answers[i] == queries_.labels[i];
      const bool base_right = base[i] == queries_.labels[i];
      correct += right;
      fixed += right && !base_right;
      harmed += !right && base_right;
    }
    EXPECT_EQ(method.accuracy.correct, correct) << MethodName(method.method);
    EXPECT_EQ(method.accuracy.total, queries_.rows);
    EXPECT_EQ(method.against_base.fixed, fixed);
    EXPECT_EQ(method.against_base.harmed, harmed);
  }
}

TEST_F(EvaluateTest, GainIsTheDifferenceOfAccuraciesInIntegers) {
  Build();
  const Evaluation result = Run(queries_.view());
  const int64_t base = result.methods.front().accuracy.correct;
  const int64_t resmem = result.methods.back().accuracy.correct;
  EXPECT_EQ(resmem - base, result.gain.fixed - result.gain.harmed);
  EXPECT_EQ(result.gain.total, queries_.rows);
  EXPECT_EQ(result.gain.both_right + result.gain.harmed, base);
  EXPECT_GT(result.gain.interval.low, 0) << "the fixture's memory should clearly help";
  EXPECT_FALSE(HasWarning(result, "do not show"));
}

TEST_F(EvaluateTest, LambdaZeroIsTheBaseAndLambdaOneIsTheNeighbors) {
  Build();
  EvaluationOptions options;
  options.lambdas = {0, 1};
  const Evaluation result = Run(queries_.view(), options);
  ASSERT_EQ(result.methods.size(), 6u);
  EXPECT_EQ(result.methods[3].accuracy.correct, result.methods[0].accuracy.correct);
  EXPECT_EQ(result.methods[4].accuracy.correct, result.methods[2].accuracy.correct);
}

TEST_F(EvaluateTest, NothingDependsOnThreadsOrOnTheCutIntoBlocks) {
  Build();
  EvaluationOptions options;
  options.threads = 1;
  const Evaluation one = Run(queries_.view(), options);
  options.threads = 3;
  const Evaluation other = Run(queries_.view(), options, 7);
  EXPECT_EQ(one.gain.fixed, other.gain.fixed);
  EXPECT_EQ(one.base_calibration.nll, other.base_calibration.nll);
  EXPECT_EQ(one.resmem_calibration.nll, other.resmem_calibration.nll);
  EXPECT_EQ(one.resmem_calibration.brier, other.resmem_calibration.brier);
  EXPECT_EQ(one.resmem_calibration.ece, other.resmem_calibration.ece);
  for (size_t i = 0; i < one.methods.size(); ++i) {
    EXPECT_EQ(one.methods[i].accuracy.correct, other.methods[i].accuracy.correct);
  }
}

TEST_F(EvaluateTest, EmptyMemoryGivesTheBaseEverywhere) {
  Problem none = MakeProblem(0, 5, 6, 1);
  Build(Describe(none, kParameters), none.view());
  const Evaluation result = Run(queries_.view());
  EXPECT_EQ(result.gain.fixed, 0);
  EXPECT_EQ(result.gain.harmed, 0);
  EXPECT_EQ(result.methods.size(), 2u);  // there is nothing to average or to ask
  EXPECT_TRUE(HasWarning(result, "empty"));
}

TEST_F(EvaluateTest, ZeroNeighborsGiveTheBaseEverywhere) {
  Build();
  EvaluationOptions options;
  options.parameters = Parameters{0, 1, 1};
  const Evaluation result = Run(queries_.view(), options);
  EXPECT_EQ(result.gain.fixed + result.gain.harmed, 0);
  EXPECT_NEAR(result.base_calibration.brier, result.resmem_calibration.brier, 1e-6);
}

TEST_F(EvaluateTest, OneNeighborMemorizesTheTrainingSet) {
  Build();
  EvaluationOptions options;
  options.parameters = Parameters{1, 0.1f, 1};
  const Evaluation result = Run(train_.view(), options);
  EXPECT_EQ(result.methods.back().accuracy.correct, train_.rows);
  EXPECT_EQ(result.rows_at_distance_zero, train_.rows);
  EXPECT_TRUE(HasWarning(result, "400 of 400 rows have their own key in the memory"));
}

TEST_F(EvaluateTest, LeaveOneOutIsAMemoryWithoutTheRow) {
  train_ = MakeProblem(40, 5, 6, 1);
  Build();
  EvaluationOptions options;
  options.leave_one_out = true;
  options.keep_rows = 40;
  const Evaluation all = Run(train_.view(), options);
  EXPECT_EQ(all.rows_at_distance_zero, 0);
  // Without ids a row is known by its number; the memory's own rows bring their ids.
  Result<Evaluation> own = Evaluate(*predictor_, ReadMemory(*memory_, 9), options);
  ASSERT_TRUE(own.ok()) << own.status().message();
  EXPECT_EQ(own->gain.fixed, all.gain.fixed);
  EXPECT_EQ(own->resmem_calibration.nll, all.resmem_calibration.nll);
  for (int64_t left = 0; left < 40; left += 13) {
    Problem rest = train_;
    rest.rows = 39;
    rest.labels.erase(rest.labels.begin() + left);
    rest.keys.erase(rest.keys.begin() + left * 5, rest.keys.begin() + (left + 1) * 5);
    rest.logits.erase(rest.logits.begin() + left * 6, rest.logits.begin() + (left + 1) * 6);
    Write(folder_ / ("without" + std::to_string(left)), Describe(rest, kParameters), rest.view());
    const ResidualMemory memory = Open(folder_ / ("without" + std::to_string(left)));
    EvaluationOptions one;
    one.keep_rows = 1;
    Result<Evaluation> single =
        Evaluate(Predictor(memory), ReadRows(train_.view().Slice(left, 1)), one);
    ASSERT_TRUE(single.ok()) << single.status().message();
    const RowResult& expected = single->row_results[0];
    EXPECT_EQ(all.row_results[static_cast<size_t>(left)].resmem, expected.resmem);
    EXPECT_EQ(all.row_results[static_cast<size_t>(left)].resmem_probability,
              expected.resmem_probability);
  }
}

TEST_F(EvaluateTest, LeaveOneOutRefusesARowThatIsNotInTheMemory) {
  Build();
  EvaluationOptions options;
  options.leave_one_out = true;
  Rows rows = queries_.view().Slice(0, 2);
  const std::vector<uint64_t> ids = {0, 4711};
  rows.ids = ids;
  const Result<Evaluation> result = Evaluate(*predictor_, ReadRows(rows), options);
  EXPECT_EQ(result.status().code(), ErrorCode::kNotFound);
  EXPECT_NE(result.status().message().find("row 1 has id 4711"), std::string::npos)
      << result.status().message();
}

TEST_F(EvaluateTest, LeaveOneOutWithoutIdsRefusesForeignRows) {
  Build();
  EvaluationOptions options;
  options.leave_one_out = true;
  const Status foreign = Evaluate(*predictor_, ReadRows(queries_.view()), options).status();
  EXPECT_EQ(foreign.code(), ErrorCode::kBadData);
  EXPECT_NE(foreign.message().find("--ids"), std::string::npos) << foreign.message();
  Problem other_key = train_;
  other_key.keys[5 * 37 + 2] += 0.001f;
  const Status key = Evaluate(*predictor_, ReadRows(other_key.view(), 16), options).status();
  EXPECT_EQ(key.code(), ErrorCode::kBadData);
  EXPECT_NE(key.message().find("row 37 is not the memory's row of id 37: value 2 of its key"),
            std::string::npos)
      << key.message();
  Problem other_label = train_;
  other_label.labels[9] = (other_label.labels[9] + 1) % 6;
  const Status label = Evaluate(*predictor_, ReadRows(other_label.view()), options).status();
  EXPECT_EQ(label.code(), ErrorCode::kBadData);
  EXPECT_NE(label.message().find("row 9 "), std::string::npos) << label.message();
}

TEST_F(EvaluateTest, LeaveOneOutWithoutIdsKnowsRowsWhoseKeysWereRounded) {
  EvaluationOptions options;
  options.leave_one_out = true;
  train_.keys[0] = 1e-6f;  // subnormal as a half
  for (const KeyType type : {KeyType::kFloat16, KeyType::kInt8}) {
    MemoryDescription description = Describe(train_, kParameters);
    description.key_type = type;
    const std::string path = folder_ / KeyTypeName(type);
    Write(path, description, train_.view());
    const ResidualMemory memory = Open(path);
    const Status same = Evaluate(Predictor(memory), ReadRows(train_.view()), options).status();
    EXPECT_TRUE(same.ok()) << KeyTypeName(type) << ": " << same.message();
    Problem other = train_;
    other.keys[5 * 20] += 0.2f;
    EXPECT_EQ(Evaluate(Predictor(memory), ReadRows(other.view()), options).status().code(),
              ErrorCode::kBadData)
        << KeyTypeName(type);
  }
}

TEST_F(EvaluateTest, ClassesAndSlicesAddUpToTheWhole) {
  Build();
  std::vector<std::string> slices;
  for (int64_t i = 0; i < queries_.rows; ++i) slices.push_back(i % 3 == 0 ? "zebra" : "ant");
  Rows rows = queries_.view();
  rows.slices = slices;
  const Evaluation result = Run(rows, {}, 11);
  ASSERT_EQ(result.slices.size(), 2u);
  EXPECT_EQ(result.slices[0].name, "ant");
  EXPECT_EQ(result.slices[1].name, "zebra");
  EXPECT_EQ(result.slices[1].total, 50);
  for (const std::vector<GroupResult>& groups : {result.classes, result.slices}) {
    int64_t total = 0, base = 0, resmem = 0, fixed = 0, harmed = 0;
    for (const GroupResult& group : groups) {
      total += group.total;
      base += group.base_correct;
      resmem += group.resmem_correct;
      fixed += group.fixed;
      harmed += group.harmed;
      EXPECT_EQ(group.resmem_correct - group.base_correct, group.fixed - group.harmed);
    }
    EXPECT_EQ(total, queries_.rows);
    EXPECT_EQ(base, result.methods.front().accuracy.correct);
    EXPECT_EQ(resmem, result.methods.back().accuracy.correct);
    EXPECT_EQ(fixed, result.gain.fixed);
    EXPECT_EQ(harmed, result.gain.harmed);
  }
}

TEST_F(EvaluateTest, ClassesBearTheirNames) {
  MemoryDescription description = Describe(train_, kParameters);
  description.class_names = {"a", "b", "c", "d", "e", "f"};
  Build(description, train_.view());
  const Evaluation result = Run(queries_.view());
  ASSERT_EQ(result.classes.size(), 6u);
  EXPECT_EQ(result.classes[4].name, "e");
}

TEST_F(EvaluateTest, CoarseAnalysisCountsErrorsWithinTheSuperclass) {
  Build();
  EvaluationOptions options;
  options.coarse_of_class = {0, 0, 1, 1, 2, 2};  // the base confuses the two of a pair
  options.keep_rows = queries_.rows;
  const Evaluation result = Run(queries_.view(), options);
  ASSERT_TRUE(result.coarse.has_value());
  CoarseAnalysis expected;
  for (const RowResult& row : result.row_results) {
    if (row.base == row.label) continue;
    const bool same = row.base / 2 == row.label / 2, fixed = row.resmem == row.label;
    expected.base_errors += 1;
    expected.base_errors_same_coarse += same;
    expected.fixed += fixed;
    expected.fixed_same_coarse += fixed && same;
  }
  EXPECT_EQ(result.coarse->base_errors, expected.base_errors);
  EXPECT_EQ(result.coarse->base_errors_same_coarse, expected.base_errors_same_coarse);
  EXPECT_EQ(result.coarse->fixed, expected.fixed);
  EXPECT_EQ(result.coarse->fixed_same_coarse, expected.fixed_same_coarse);
  EXPECT_GT(expected.fixed_same_coarse, 0);
  EXPECT_EQ(expected.fixed, result.gain.fixed);
}

TEST_F(EvaluateTest, CoarseLabelsMustCoverTheClasses) {
  Build();
  EvaluationOptions options;
  options.coarse_of_class = {0, 1};
  EXPECT_EQ(Evaluate(*predictor_, ReadRows(queries_.view()), options).status().code(),
            ErrorCode::kBadData);
}

TEST_F(EvaluateTest, OnlyRowsOfTheRoleAskedForAreEvaluated) {
  Build();
  std::vector<Role> roles;
  for (int64_t i = 0; i < queries_.rows; ++i) roles.push_back(i % 5 ? Role::kTest : Role::kTrain);
  Rows rows = queries_.view();
  rows.roles = roles;
  const Evaluation all = Run(rows);
  EXPECT_EQ(all.train_rows, 30);
  EXPECT_TRUE(HasWarning(all, "30 of 150 rows are marked train"));
  EvaluationOptions options;
  options.only = Role::kTest;
  options.keep_rows = 5;
  const Evaluation result = Run(rows, options, 8);
  EXPECT_EQ(result.rows, 120);
  EXPECT_EQ(result.train_rows, 0);
  EXPECT_FALSE(HasWarning(result, "marked train"));
  ASSERT_EQ(result.row_results.size(), 5u);
  EXPECT_EQ(result.row_results[4].row, 6);  // rows 0 and 5 are left out
  options.only = Role::kValidation;
  EXPECT_EQ(Evaluate(*predictor_, ReadRows(rows), options).status().code(), ErrorCode::kBadData);
}

TEST_F(EvaluateTest, SaysThatTheBaseHasMemorizedItsTrainingSet) {
  Problem memorized = train_;
  for (int64_t i = 0; i < memorized.rows; ++i) {
    memorized.logits[static_cast<size_t>(i * 6 + memorized.labels[static_cast<size_t>(i)])] = 40;
  }
  Build(Describe(memorized, kParameters), memorized.view());
  const Evaluation result = Run(queries_.view());
  EXPECT_LT(result.mean_residual_mass, 0.01);
  EXPECT_TRUE(HasWarning(result, "--out-of-fold-logits"));
}

TEST_F(EvaluateTest, SaysThatTheMemoryHarms) {
  Problem wrong = train_;  // residuals that push toward the next class
  for (int32_t& label : wrong.labels) label = (label + 1) % 6;
  Build(Describe(wrong, kParameters), wrong.view());
  const Evaluation result = Run(queries_.view());
  EXPECT_LT(result.gain.interval.high, 0);
  EXPECT_TRUE(HasWarning(result, "The memory harms on these rows (95 % interval of the gain: -"));
  EXPECT_TRUE(HasWarning(result, " points); tune k, sigma and T"));
  // Rows that the base has seen show no harm.
  const std::vector<Role> roles(static_cast<size_t>(queries_.rows), Role::kTrain);
  Rows rows = queries_.view();
  rows.roles = roles;
  EXPECT_TRUE(HasWarning(Run(rows), "150 of 150 rows are marked train"));
  EXPECT_FALSE(HasWarning(Run(rows), "The memory harms"));
}

TEST_F(EvaluateTest, SaysThatABaseAtChanceWasProbablyGivenOtherRows) {
  Build();
  EXPECT_FALSE(HasWarning(Run(queries_.view()), "guessing"));
  Problem shuffled = MakeProblem(150, 5, 6, 2);
  for (size_t i = 0; i < shuffled.labels.size(); ++i) {
    shuffled.labels[i] = static_cast<int32_t>((shuffled.labels[i] + 2 + i % 4) % 6);
  }
  EXPECT_TRUE(HasWarning(Run(shuffled.view()), "about what guessing among 6 classes gives"));
  EXPECT_FALSE(HasWarning(Run(shuffled.view().Slice(0, 100)), "guessing"))
      << "too few rows to tell";
  EvaluationOptions options;
  options.parameters = Parameters{0, 1, 1};
  EXPECT_TRUE(HasWarning(Run(shuffled.view(), options), "guessing"));
}

TEST_F(EvaluateTest, TwoClassesAreAtChanceAtHalfAndNotAtThreeQuarters) {
  train_ = MakeProblem(200, 5, 2, 1);
  Build();
  Problem two = MakeProblem(200, 5, 2, 2);
  for (size_t i = 0; i < two.labels.size(); ++i) {
    const auto label = static_cast<size_t>(two.labels[i]);
    two.logits[2 * i + label] = i % 10 < 7 ? 1.0f : 0.0f;
    two.logits[2 * i + 1 - label] = 0.5f;
  }
  EXPECT_FALSE(HasWarning(Run(two.view()), "guessing"));
  for (size_t i = 0; i < two.labels.size(); ++i) {
    two.logits[2 * i + static_cast<size_t>(two.labels[i])] = i % 2 ? 1.0f : 0.0f;
  }
  EXPECT_TRUE(HasWarning(Run(two.view()), "guessing"));
}

TEST_F(EvaluateTest, RefusesRowsThatCannotBeJudged) {
  Build();
  Rows rows = queries_.view();
  rows.labels = {};
  EXPECT_EQ(Evaluate(*predictor_, ReadRows(rows)).status().code(), ErrorCode::kBadData);
  queries_.labels[17] = 6;
  const Status outside = Evaluate(*predictor_, ReadRows(queries_.view(), 10)).status();
  EXPECT_EQ(outside.code(), ErrorCode::kBadData);
  EXPECT_NE(outside.message().find("row 17 has label 6"), std::string::npos) << outside.message();
  rows = queries_.view();
  rows.logits.columns = 5;
  EXPECT_EQ(Evaluate(*predictor_, ReadRows(rows)).status().code(), ErrorCode::kBadData);
  EXPECT_EQ(Evaluate(*predictor_, ReadRows(queries_.view().Slice(0, 0))).status().code(),
            ErrorCode::kBadData);
}

class StopAtOnce : public Progress {
 public:
  bool Cancelled() const override { return true; }
};

TEST_F(EvaluateTest, StopsWhenAsked) {
  Build();
  StopAtOnce progress;
  EvaluationOptions options;
  options.progress = &progress;
  EXPECT_EQ(Evaluate(*predictor_, ReadRows(queries_.view()), options).status().code(),
            ErrorCode::kCancelled);
}

}  // namespace
}  // namespace resmem
