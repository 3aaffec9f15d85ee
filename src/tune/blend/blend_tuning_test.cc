#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "fixtures/small_memory.h"
#include "resmem/tuner.h"
#include "tune/blend/blend_fit.h"

namespace resmem {
namespace {

using fixtures::Describe;
using fixtures::MakeProblem;
using fixtures::Problem;
using fixtures::TemporaryFolder;

class BlendTuningTest : public testing::Test {
 protected:
  void Build(const MemoryDescription& description, const Problem& train) {
    path_ = folder_ / "m.resmem";
    std::filesystem::remove_all(path_);
    fixtures::Write(path_, description, train.view());
    memory_ = std::make_unique<ResidualMemory>(fixtures::Open(path_));
  }
  Tuning Tuned(const Problem& rows, TuneOptions options = {}) {
    const bool frozen = memory_->description().form != ResidualForm::kLogits;
    if (!frozen) options.grid.temperature = {1, 1.4f, 2};
    const Predictor predictor(*memory_);
    Result<Tuning> tuning = Tune(predictor, ReadRows(rows.view()), options);
    EXPECT_TRUE(tuning.ok()) << tuning.status().message();
    return tuning.ok() ? std::move(tuning).value() : Tuning();
  }
  // NLL of a memory's default answer.
  static double NllOf(const ResidualMemory& memory, const Problem& rows) {
    const Result<Evaluation> evaluation = Evaluate(Predictor(memory), ReadRows(rows.view()));
    EXPECT_TRUE(evaluation.ok()) << evaluation.status().message();
    return evaluation->resmem_calibration.nll;
  }
  static double BaseNllOf(const ResidualMemory& memory, const Problem& rows) {
    return Evaluate(Predictor(memory), ReadRows(rows.view()))->base_calibration.nll;
  }

  TemporaryFolder folder_;
  std::string path_;
  std::unique_ptr<ResidualMemory> memory_;
  const Problem train_ = MakeProblem(1500, 5, 6, 1);
  const Problem held_out_ = MakeProblem(600, 5, 6, 2);
  const Problem test_ = MakeProblem(600, 5, 6, 3);
};

TEST_F(BlendTuningTest, BecomesTheAnswerAndIsBetterOnNewRows) {
  for (const ResidualForm form :
       {ResidualForm::kLogits, ResidualForm::kDense, ResidualForm::kSparse}) {
    SCOPED_TRACE(ResidualFormName(form));
    MemoryDescription description = Describe(train_, {7, 0.9f, 1.3f});
    description.form = form;
    description.top = 3;
    Build(description, train_);
    const Tuning tuning = Tuned(held_out_);
    ASSERT_TRUE(tuning.blend.has_value());
    EXPECT_TRUE(tuning.blend->adopted) << tuning.blend->reason;
    EXPECT_GT(tuning.blend->nll_interval.low, 0);
    EXPECT_LT(tuning.blend->nll, tuning.blend->scaled_nll);
    const MemoryDescription tuned = ApplyTuning(memory_->description(), tuning);
    ASSERT_TRUE(UpdateDescription(path_, tuned).ok());
    const ResidualMemory memory = fixtures::Open(path_);
    EXPECT_EQ(memory.description().answer, Method::kBlend);
    EXPECT_EQ(memory.description().blend, tuning.blend->blend);
    const double nll = NllOf(memory, test_);
    EXPECT_LT(nll, BaseNllOf(memory, test_));
    // What cross-validation promised is what new rows show.
    EXPECT_NEAR(nll, tuning.blend->nll, 0.12);
  }
}

TEST_F(BlendTuningTest, AFewRowsThatAreAllToldApartDoNotCallForCertainty) {
  // Clusters so far apart that the neighbors are never wrong, and a base that mostly is.
  const auto clusters = [](int64_t rows, uint64_t seed) {
    Problem problem = MakeProblem(rows, 5, 6, seed);
    Random random(seed + 100);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t d = 0; d < 5; ++d) {
        const bool own = problem.labels[static_cast<size_t>(row)] % 5 == d;
        const float sign = problem.labels[static_cast<size_t>(row)] == 5 ? -1.0f : 1.0f;
        problem.keys[static_cast<size_t>(row * 5 + d)] =
            (own ? 9 * sign : 0.0f) + static_cast<float>(random.Normal());
      }
    }
    return problem;
  };
  const Problem train = clusters(1000, 1), test = clusters(600, 3);
  for (const int64_t rows : {100, 120, 150}) {
    SCOPED_TRACE(rows);
    Build(Describe(train, {7, 0.9f, 1.3f}), train);
    const Tuning tuning = Tuned(clusters(rows, 2));
    ASSERT_TRUE(tuning.blend->adopted) << tuning.blend->reason;
    ASSERT_TRUE(UpdateDescription(path_, ApplyTuning(memory_->description(), tuning)).ok());
    // The guard's price is part of it: answers fade to a base that mostly errs.
    EXPECT_LT(NllOf(fixtures::Open(path_), test), 0.25);
  }
  // What held the coefficients down is the prior.
  const Problem held_out = clusters(100, 2);
  const Predictor predictor(*memory_);
  const Result<ValidationRows> rows =
      CollectValidationRows(predictor, ReadRows(held_out.view()), {}, 20, {KeyTransform::kNone});
  ASSERT_TRUE(rows.ok());
  BlendSample sample(*memory_, *rows, int64_t{1} << 30);
  const BlendPoint point{{20, 0.9f, 1.4f}, 1};
  sample.Load(point, 1, 1);
  std::vector<int64_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  const auto largest = [&](const BlendFitOptions& options) {
    double most = 0;
    const BlendFit fit = FitBlend(sample, sample.Describe(point, 1), all, options, {});
    for (const auto& part : fit.coefficients) most = std::max(most, std::abs(part[0]));
    return most;
  };
  BlendFitOptions bare;
  bare.prior_rows = 0;
  EXPECT_LT(largest({}), 3.5);
  EXPECT_GT(largest(bare), 4);
}

TEST_F(BlendTuningTest, OneFitForAllFoldsIsAFitForEach) {
  Build(Describe(train_, {7, 0.9f, 1.3f}), train_);
  const Predictor predictor(*memory_);
  const TuneOptions options;
  const Result<ValidationRows> rows = CollectValidationRows(predictor, ReadRows(held_out_.view()),
                                                            options, 50, {KeyTransform::kNone});
  ASSERT_TRUE(rows.ok());
  BlendSample sample(*memory_, *rows, int64_t{1} << 30);
  const BlendPoint point{{20, 0.9f, 1.4f}, 1};
  sample.Load(point, 1, 1);
  BlendSplit split;
  split.folds.resize(5);
  split.subsets.resize(6);
  for (int64_t row = 0; row < sample.rows(); ++row) {
    for (size_t subset = 0; subset < 6; ++subset) {
      if (row % 5 != static_cast<int64_t>(subset) - 1) split.subsets[subset].push_back(row);
    }
    split.folds[static_cast<size_t>(row % 5)].push_back(row);
  }
  const Blend blend = sample.Describe(point, 1);
  const std::vector<BlendFit> together = FitSplit(sample, blend, split, {}, {});
  ASSERT_EQ(together.size(), 6u);
  for (size_t subset = 0; subset < 6; ++subset) {
    const BlendFit alone = FitBlend(sample, blend, split.subsets[subset], {}, {});
    EXPECT_NEAR(together[subset].loss, alone.loss, subset == 0 ? 1e-9 : 5e-5);
  }
}

TEST_F(BlendTuningTest, IsTheSameForAnyThreadCount) {
  Build(Describe(train_, {7, 0.9f, 1.3f}), train_);
  TuneOptions options;
  options.threads = 1;
  const Tuning one = Tuned(held_out_, options);
  options.threads = 3;
  const Tuning three = Tuned(held_out_, options);
  EXPECT_EQ(*one.blend->blend, *three.blend->blend);
  EXPECT_EQ(one.blend->nll, three.blend->nll);
}

TEST_F(BlendTuningTest, LogitBoostUsesBaseAndResidualOnly) {
  Build(Describe(train_, {7, 0.9f, 1.3f}), train_);
  TuneOptions options;
  options.method = Method::kLogitBoost;
  const Tuning tuning = Tuned(held_out_, options);
  ASSERT_TRUE(tuning.blend->adopted) << tuning.blend->reason;
  const auto zero = std::array<float, 4>{};
  EXPECT_EQ(tuning.blend->blend->coefficients[kLabelsPart], zero);
  EXPECT_EQ(tuning.blend->blend->coefficients[kExpectedPart], zero);
  EXPECT_GT(tuning.blend->blend->coefficients[kResidualPart][0], 0);
  EXPECT_EQ(ApplyTuning(memory_->description(), tuning).answer, Method::kLogitBoost);
}

TEST_F(BlendTuningTest, StaysOutOfTheWayWhereNeighborsKnowNothing) {
  // Labels that nothing predicts better than the base's logits do.
  Problem train = train_, held_out = held_out_;
  Random random(9);
  for (Problem* problem : {&train, &held_out}) {
    for (int64_t row = 0; row < problem->rows; ++row) {
      float* const logits = &problem->logits[static_cast<size_t>(row * 6)];
      double total = 0, sum = 0;
      for (int c = 0; c < 6; ++c) total += std::exp(logits[c]);
      const double drawn = random.Uniform() * total;
      for (int32_t c = 0; c < 6; ++c) {
        problem->labels[static_cast<size_t>(row)] = c;
        if ((sum += std::exp(logits[c])) > drawn) break;
      }
      for (int d = 0; d < 5; ++d) {
        problem->keys[static_cast<size_t>(row * 5 + d)] = static_cast<float>(random.Normal());
      }
    }
  }
  Build(Describe(train, {7, 0.9f, 1.3f}), train);
  const Tuning tuning = Tuned(held_out);
  ASSERT_TRUE(tuning.blend->blend.has_value());
  EXPECT_FALSE(tuning.blend->adopted);
  EXPECT_NE(tuning.blend->reason.find("cross-validation"), std::string::npos);
  const MemoryDescription described = ApplyTuning(memory_->description(), tuning);
  EXPECT_EQ(described.answer, Method::kBase);
  EXPECT_FALSE(described.blend.has_value());
  ASSERT_TRUE(UpdateDescription(path_, described).ok());
  const ResidualMemory memory = fixtures::Open(path_);
  EXPECT_EQ(NllOf(memory, held_out), BaseNllOf(memory, held_out));
}

TEST_F(BlendTuningTest, TakesAHundredRowsAndSlopesTwoHundredAndFifty) {
  Build(Describe(train_, {7, 0.9f, 1.3f}), train_);
  const Tuning few = Tuned(MakeProblem(99, 5, 6, 4));
  EXPECT_FALSE(few.blend->blend.has_value());
  EXPECT_NE(few.blend->reason.find("99"), std::string::npos);
  EXPECT_EQ(ApplyTuning(memory_->description(), few).answer, Method::kResMem);
  const Tuning some = Tuned(MakeProblem(240, 5, 6, 4));
  ASSERT_TRUE(some.blend->blend.has_value());
  EXPECT_FALSE(some.blend->slopes);
}

TEST_F(BlendTuningTest, TakesAsManyRowsAsFitAndSaysSo) {
  // 20 bytes for each of 60 classes: 873 rows in a megabyte.
  const Problem train = MakeProblem(400, 5, 60, 1), rows = MakeProblem(900, 5, 60, 2);
  Build(Describe(train, {7, 0.9f, 1.3f}), train);
  TuneOptions options;
  options.fit_megabytes = 1;
  const Tuning some = Tuned(rows, options);
  EXPECT_EQ(some.blend->rows, 873);
  const auto said = [](const Tuning& tuning) {
    return std::ranges::any_of(tuning.warnings, [](const std::string& warning) {
      return warning.find("fitted on 873 of 900 rows") != std::string::npos;
    });
  };
  EXPECT_TRUE(said(some));
  // What may be held of the rows themselves has no say in it.
  options.memory_limit = int64_t{40} << 20;
  EXPECT_EQ(Tuned(rows, options).blend->blend, some.blend->blend);
  EXPECT_FALSE(said(Tuned(rows)));
  EXPECT_EQ(Tuned(rows).blend->rows, 900);
  const Problem wide = MakeProblem(120, 5, 600, 2);
  Build(Describe(wide, {7, 0.9f, 1.3f}), wide);
  const Tuning none = Tuned(wide, options);
  EXPECT_FALSE(none.blend->blend.has_value());
  EXPECT_NE(none.blend->reason.find("only 87 of 120 held-out rows fit 1 MB"), std::string::npos)
      << none.blend->reason;
}

TEST_F(BlendTuningTest, IsNotFittedOnRowsThatTheBaseWasTrainedOn) {
  Build(Describe(train_, {7, 0.9f, 1.3f}), train_);
  TuneOptions options;
  options.leave_one_out = true;
  const Predictor predictor(*memory_);
  const Result<Tuning> tuning = Tune(predictor, ReadMemory(*memory_), options);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  EXPECT_FALSE(tuning->blend->blend.has_value());
  EXPECT_NE(tuning->blend->reason.find("held-out"), std::string::npos);
  // Once there is an answer that was fitted on held-out rows, it is not replaced.
  ASSERT_TRUE(UpdateDescription(path_, ApplyTuning(memory_->description(), Tuned(held_out_))).ok());
  const ResidualMemory tuned = fixtures::Open(path_);
  const Result<Tuning> again = Tune(Predictor(tuned), ReadMemory(tuned), options);
  EXPECT_EQ(again.status().code(), ErrorCode::kInvalidArgument);
}

TEST_F(BlendTuningTest, CanBeUndoneOnce) {
  Build(Describe(train_, {7, 0.9f, 1.3f}), train_);
  const MemoryDescription before = memory_->description();
  EXPECT_EQ(UndoTuning(before).status().code(), ErrorCode::kNotFound);
  const MemoryDescription first = ApplyTuning(before, Tuned(held_out_));
  TuneOptions options;
  options.method = Method::kResMem;
  const MemoryDescription second = ApplyTuning(first, Tuned(test_, options));
  EXPECT_EQ(second.answer, Method::kResMem);
  const Result<MemoryDescription> undone = UndoTuning(second);
  ASSERT_TRUE(undone.ok()) << undone.status().message();
  EXPECT_EQ(undone->answer, Method::kBlend);
  EXPECT_EQ(undone->blend, first.blend);
  EXPECT_EQ(undone->parameters, first.parameters);
  EXPECT_EQ(undone->calibrator, first.calibrator);
  EXPECT_EQ(undone->notes.at("tuning"), first.notes.at("tuning"));
  EXPECT_EQ(UndoTuning(*undone).status().code(), ErrorCode::kNotFound);
}

// Never a crash, never a NaN.
TEST_F(BlendTuningTest, SurvivesOddRows) {
  const auto check = [&](const char* what, const Problem& train, const Problem& rows) {
    SCOPED_TRACE(what);
    Build(Describe(train, {7, 0.9f, 1.3f}), train);
    const Tuning tuning = Tuned(rows);
    ASSERT_TRUE(tuning.blend.has_value());
    EXPECT_TRUE(std::isfinite(tuning.blend->nll));
    EXPECT_EQ(tuning.blend->adopted, tuning.blend->reason.empty());
    ASSERT_TRUE(UpdateDescription(path_, ApplyTuning(memory_->description(), tuning)).ok());
    const ResidualMemory memory = fixtures::Open(path_);
    const Predictor predictor(memory);
    std::vector<float> scores(rows.logits.size());
    ASSERT_TRUE(
        predictor.Predict(rows.view().keys, rows.view().logits, predictor.DefaultOptions(), scores)
            .ok());
    for (const float score : scores) ASSERT_TRUE(std::isfinite(score));
  };
  const Problem rows = MakeProblem(300, 5, 6, 5);
  Problem one_class = rows;
  std::ranges::fill(one_class.labels, 3);
  check("one class in the held-out rows", train_, one_class);
  Problem missing = rows;
  for (int32_t& label : missing.labels) label = std::min(label, 2);
  check("labels that the held-out rows lack", train_, missing);
  Problem tiny = MakeProblem(7, 5, 6, 6);
  check("k larger than the memory", tiny, rows);
  Problem equal_train = train_, equal = rows;
  std::ranges::fill(equal_train.keys, 1.0f);
  std::ranges::fill(equal.keys, 2.0f);
  check("all distances equal", equal_train, equal);
  std::ranges::fill(equal.keys, 1.0f);
  check("all distances zero", equal_train, equal);
  Problem flat_train = train_, flat = rows;
  for (size_t i = 0; i < flat_train.keys.size(); i += 5) flat_train.keys[i] = 4;
  for (size_t i = 0; i < flat.keys.size(); i += 5) flat.keys[i] = 4;
  check("a dimension without variance", flat_train, flat);
  Problem twice = rows;
  for (size_t row = 150; row < 300; ++row) {
    std::copy_n(&rows.keys[(row - 150) * 5], 5, &twice.keys[row * 5]);
    std::copy_n(&rows.logits[(row - 150) * 6], 6, &twice.logits[row * 6]);
    twice.labels[row] = rows.labels[row - 150];
  }
  check("duplicated rows", train_, twice);
  check("rows of the memory itself", train_, train_);
  Problem sure = rows;
  for (size_t row = 0; row < 300; ++row) {
    sure.logits[row * 6 + static_cast<size_t>(sure.labels[row])] = 1e30f;
  }
  check("a base that is always right and sure", train_, sure);
}

TEST_F(BlendTuningTest, RefusesLogitsThatAreNotNumbers) {
  Build(Describe(train_, {7, 0.9f, 1.3f}), train_);
  Problem broken = held_out_;
  broken.logits[17] = std::numeric_limits<float>::quiet_NaN();
  const Predictor predictor(*memory_);
  const Result<Tuning> tuning = Tune(predictor, ReadRows(broken.view()), {});
  ASSERT_FALSE(tuning.ok());
  EXPECT_EQ(tuning.status().code(), ErrorCode::kBadData);
}

TEST(BlendRegression, ShrinksWhatDoesNotHelpAndKeepsWhatDoes) {
  const TemporaryFolder folder;
  Random random(3);
  const auto make = [&](int64_t rows, std::vector<float>* keys, std::vector<float>* base,
                        std::vector<float>* targets) {
    for (int64_t row = 0; row < rows; ++row) {
      const double x = random.Normal(), y = random.Normal();
      keys->insert(keys->end(), {static_cast<float>(x), static_cast<float>(y)});
      base->push_back(static_cast<float>(x));
      // Half of what the base misses can be known from the keys.
      targets->push_back(static_cast<float>(x + std::sin(2 * y) + random.Normal()));
    }
  };
  const auto view = [](const std::vector<float>& keys, const std::vector<float>& base,
                       const std::vector<float>& targets) {
    Rows rows;
    const auto count = static_cast<int64_t>(base.size());
    rows.keys = MatrixView(keys.data(), count, 2);
    rows.logits = MatrixView(base.data(), count, 1);
    rows.targets = MatrixView(targets.data(), count, 1);
    return rows;
  };
  std::vector<float> keys, base, targets, new_keys, new_base, new_targets;
  make(800, &keys, &base, &targets);
  make(500, &new_keys, &new_base, &new_targets);
  MemoryDescription description;
  description.task = Task::kRegression;
  description.form = ResidualForm::kDense;
  description.dim = 2;
  description.outputs = 1;
  fixtures::Write(folder / "m", description, view(keys, base, targets));
  const ResidualMemory memory = fixtures::Open(folder / "m");
  const Result<Tuning> tuning =
      Tune(Predictor(memory), ReadRows(view(new_keys, new_base, new_targets)), {});
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  ASSERT_TRUE(tuning->blend->adopted) << tuning->blend->reason;
  EXPECT_LT(tuning->blend->nll, tuning->blend->scaled_nll);
  const float share = tuning->blend->blend->coefficients[kResidualPart][0];
  EXPECT_GT(share, 0.3f);
  EXPECT_LT(share, 1.2f);
}

}  // namespace
}  // namespace resmem
