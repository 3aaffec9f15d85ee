// Rows that nobody should tune on: a clear error or finite answers, never a crash or a NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "fixtures/small_memory.h"
#include "resmem/tuner.h"
#include "support/random.h"

namespace resmem {
namespace {

using fixtures::Describe;
using fixtures::MakeProblem;
using fixtures::Problem;
using fixtures::TemporaryFolder;

struct BadInput {
  const char* name;
  // Spoils what is memorized and what is tuned on.
  std::function<void(Problem* train, Problem* held_out)> spoil;
  const char* refused = nullptr;  // a part of the message; null: it is accepted
  std::vector<int64_t> grid_k = {};
};

void SetKeys(Problem* problem, const std::function<float(int64_t row, int64_t d)>& value) {
  for (int64_t row = 0; row < problem->rows; ++row) {
    for (int64_t d = 0; d < problem->dim; ++d) {
      problem->keys[static_cast<size_t>(row * problem->dim + d)] = value(row, d);
    }
  }
}

void RepeatKeys(Problem* problem) {
  const std::vector<float> keys = problem->keys;
  SetKeys(problem, [&](int64_t row, int64_t d) {
    return keys[static_cast<size_t>(row % 3 * problem->dim + d)];
  });
}

std::vector<BadInput> BadInputs() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return {
      {"labels that no held-out row has",
       [](Problem*, Problem* held_out) {
         for (int32_t& label : held_out->labels) label %= 2;
       }},
      {"held-out rows of one class",
       [](Problem*, Problem* held_out) {
         for (int32_t& label : held_out->labels) label = 1;
       }},
      {"a memory of one class",
       [](Problem* train, Problem*) {
         for (int32_t& label : train->labels) label = 1;
       }},
      {"k beyond the memory", [](Problem*, Problem*) {}, nullptr, {1, 100000}},
      {"all distances equal",
       [](Problem* train, Problem* held_out) {
         SetKeys(train, [](int64_t, int64_t) { return 1.0f; });
         SetKeys(held_out, [](int64_t, int64_t) { return 3.0f; });
       }},
      {"all distances zero",
       [](Problem* train, Problem* held_out) {
         SetKeys(train, [](int64_t, int64_t) { return 1.0f; });
         SetKeys(held_out, [](int64_t, int64_t) { return 1.0f; });
       }},
      {"a key value that never changes",
       [](Problem* train, Problem* held_out) {
         for (Problem* one : {train, held_out}) {
           for (int64_t row = 0; row < one->rows; ++row) {
             one->keys[static_cast<size_t>(row * one->dim)] = 1e6f;
           }
         }
       }},
      {"every key many times",
       [](Problem* train, Problem* held_out) {
         for (Problem* one : {train, held_out}) RepeatKeys(one);
       }},
      {"every row many times, also among those held out",
       [](Problem* train, Problem* held_out) {
         RepeatKeys(train);
         for (int64_t row = 0; row < train->rows; ++row) {
           const auto at = static_cast<size_t>(row), from = static_cast<size_t>(row % 3);
           train->labels[at] = train->labels[from];
           for (size_t c = 0; c < static_cast<size_t>(train->classes); ++c) {
             const auto classes = static_cast<size_t>(train->classes);
             train->logits[at * classes + c] = train->logits[from * classes + c];
           }
         }
         const int64_t rows = held_out->rows;
         *held_out = *train;
         held_out->rows = rows;
         held_out->keys.resize(static_cast<size_t>(rows * train->dim));
         held_out->logits.resize(static_cast<size_t>(rows * train->classes));
         held_out->labels.resize(static_cast<size_t>(rows));
       }},
      {"some keys of length zero",
       [](Problem* train, Problem* held_out) {
         for (Problem* one : {train, held_out}) {
           const std::vector<float> keys = one->keys;
           SetKeys(one, [&](int64_t row, int64_t d) {
             return row % 3 == 0 ? 0.0f : keys[static_cast<size_t>(row * one->dim + d)];
           });
         }
       }},
      {"logits that are certain",
       [](Problem* train, Problem* held_out) {
         for (Problem* one : {train, held_out}) {
           for (float& logit : one->logits) logit *= 1e30f;
         }
       }},
      {"a key that is no number", [nan](Problem*, Problem* held_out) { held_out->keys[7] = nan; },
       "query 1, column 3"},
      {"a logit that is no number",
       [nan](Problem*, Problem* held_out) { held_out->logits[7] = nan; }, "logit"},
      {"a label beyond the classes", [](Problem*, Problem* held_out) { held_out->labels[3] = 6; },
       "label"},
  };
}

const std::vector<KeyTransform> kTransforms = {KeyTransform::kNone, KeyTransform::kUnit,
                                               KeyTransform::kWhiten};

bool AllFinite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float one) { return std::isfinite(one); });
}

class BadInputTest : public testing::Test {
 protected:
  // Everything that a tuned memory may be asked.
  void ExpectFinite(const ResidualMemory& memory, const Problem& rows) {
    const Predictor predictor(memory);
    std::vector<float> scores(static_cast<size_t>(rows.rows * rows.classes));
    for (const Method method : {Method::kBase, Method::kKnn, Method::kKnnLm, Method::kResMem,
                                memory.description().answer}) {
      const Status status = predictor.Predict(rows.view().keys, rows.view().logits,
                                              predictor.OptionsOf(method), scores);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(AllFinite(scores)) << MethodName(method);
    }
    const Result<Evaluation> evaluation = Evaluate(predictor, ReadRows(rows.view()));
    ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
    for (const MethodResult& result : evaluation->methods) {
      EXPECT_TRUE(std::isfinite(result.nll.value_or(0)));
      if (!result.metrics) continue;
      EXPECT_TRUE(std::isfinite(result.metrics->ece + result.metrics->brier +
                                result.metrics->macro_f1 + result.metrics->auc.value_or(0) +
                                result.metrics->ece_interval.high));
    }
    for (const MethodPair& pair : evaluation->pairs) {
      EXPECT_TRUE(std::isfinite(pair.gain.p_value));
      if (pair.nll) {
        EXPECT_TRUE(std::isfinite(pair.nll->interval.low));
      }
    }
  }
};

TEST_F(BadInputTest, GivesAClearErrorOrFiniteAnswers) {
  const TemporaryFolder folder;
  for (const BadInput& bad : BadInputs()) {
    for (const ResidualForm form :
         {ResidualForm::kLogits, ResidualForm::kDense, ResidualForm::kSparse}) {
      SCOPED_TRACE(std::string(bad.name) + ", " + ResidualFormName(form));
      Problem train = MakeProblem(140, 4, 6, 1), held_out = MakeProblem(130, 4, 6, 2);
      bad.spoil(&train, &held_out);
      MemoryDescription description = Describe(train, {7, 0.9f, 1.3f});
      description.form = form;
      description.top = 3;
      const std::string path = folder / "m.resmem";
      std::filesystem::remove_all(path);
      fixtures::Write(path, description, train.view());
      const ResidualMemory memory = fixtures::Open(path);
      for (const Objective objective :
           {Objective::kNll, Objective::kGain, Objective::kTprUnderFpr}) {
        TuneOptions options;
        options.objective = objective;
        options.folds = 3;
        options.grid.k = bad.grid_k.empty() ? std::vector<int64_t>{3, 20} : bad.grid_k;
        options.grid.sigma = {0.5f, 1};
        if (form == ResidualForm::kLogits) options.grid.temperature = {1};
        if (objective == Objective::kNll) options.key_transforms = kTransforms;
        const Result<Tuning> tuning = Tune(Predictor(memory), ReadRows(held_out.view()), options);
        if (bad.refused != nullptr) {
          ASSERT_FALSE(tuning.ok());
          EXPECT_NE(tuning.status().message().find(bad.refused), std::string::npos)
              << tuning.status().message();
          continue;
        }
        ASSERT_TRUE(tuning.ok()) << tuning.status().message();
        ASSERT_TRUE(tuning->blend.has_value());
        EXPECT_TRUE(std::isfinite(tuning->blend->nll_gain));
        for (const RivalTuning& rival : tuning->rival_tunings) {
          EXPECT_TRUE(std::isfinite(rival.nll));
        }
        const Status updated = UpdateDescription(path, ApplyTuning(description, *tuning));
        ASSERT_TRUE(updated.ok()) << updated.message();
        ExpectFinite(fixtures::Open(path), held_out);
        ASSERT_TRUE(UpdateDescription(path, description).ok());
      }
    }
  }
}

// A ledger of every row by the memory's own answer, and how far it lies.
void ExpectFiniteLedgers(const ResidualMemory& memory, const Problem& rows) {
  const Predictor predictor(memory);
  for (int64_t row = 0; row < rows.rows; ++row) {
    const Result<Explanation> found =
        Explain(predictor, rows.view().keys.row_span(row), rows.view().logits.row_span(row),
                predictor.DefaultOptions());
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_TRUE(AllFinite(found->score) && AllFinite(found->probability));
    for (const Explanation::Line& line : found->lines) {
      EXPECT_TRUE(AllFinite({line.contribution.begin(), line.contribution.end()}));
    }
    ASSERT_EQ(found->distance.has_value(), memory.description().blend.has_value());
    if (!found->distance) continue;
    EXPECT_TRUE(found->distance->percentile >= 0 && found->distance->percentile <= 100);
  }
}

// Where one could be fitted a blend answers, whether it would be adopted or not.
TEST_F(BadInputTest, GivesAClearErrorOrFiniteAnswersWhateverIsDoneToKeys) {
  const TemporaryFolder folder;
  int64_t blends = 0;
  for (const BadInput& bad : BadInputs()) {
    for (const KeyTransform transform : kTransforms) {
      SCOPED_TRACE(std::string(bad.name) + ", " + KeyTransformName(transform));
      Problem train = MakeProblem(140, 4, 6, 1), held_out = MakeProblem(130, 4, 6, 2);
      bad.spoil(&train, &held_out);
      MemoryDescription description = Describe(train, {7, 0.9f, 1.3f});
      description.key_transform = transform;
      const std::string path = folder / "m.resmem";
      std::filesystem::remove_all(path);
      Result<MemoryWriter> writer = MemoryWriter::Create(path, description, train.rows, {});
      ASSERT_TRUE(writer.ok()) << writer.status().message();
      ASSERT_TRUE(writer->Add(train.view()).ok());
      if (const Status finished = writer->Finish(); !finished.ok()) {
        EXPECT_EQ(transform, KeyTransform::kWhiten);
        EXPECT_NE(finished.message().find("cannot be whitened"), std::string::npos)
            << finished.message();
        continue;
      }
      TuneOptions options;
      options.folds = 3;
      options.grid.k = bad.grid_k.empty() ? std::vector<int64_t>{3, 20} : bad.grid_k;
      options.grid.sigma = {0.5f, 1};
      options.grid.temperature = {1};
      const Result<Tuning> tuning =
          Tune(Predictor(fixtures::Open(path)), ReadRows(held_out.view()), options);
      if (bad.refused != nullptr) {
        EXPECT_FALSE(tuning.ok());
        continue;
      }
      ASSERT_TRUE(tuning.ok()) << tuning.status().message();
      ASSERT_TRUE(tuning->blend.has_value());
      MemoryDescription tuned = ApplyTuning(fixtures::Open(path).description(), *tuning);
      if (tuning->blend->blend) {
        tuned.answer = Method::kBlend;
        tuned.blend = tuning->blend->blend;
        ++blends;
      }
      const Status updated = UpdateDescription(path, tuned);
      ASSERT_TRUE(updated.ok()) << updated.message();
      const ResidualMemory memory = fixtures::Open(path);
      ExpectFinite(memory, held_out);
      ExpectFiniteLedgers(memory, held_out);
    }
  }
  EXPECT_GT(blends, 10);
}

// Keys and targets of a regression; the base says 0.
struct Wave {
  explicit Wave(int64_t rows, uint64_t seed) {
    Random random(seed);
    for (int64_t row = 0; row < rows; ++row) {
      for (int d = 0; d < 2; ++d) keys.push_back(static_cast<float>(random.Normal()));
      targets.push_back(std::sin(3 * keys[keys.size() - 2]));
      predictions.push_back(0);
    }
  }
  Rows view() const {
    const auto count = std::ssize(targets);
    Rows rows;
    rows.keys = MatrixView(keys.data(), count, 2);
    rows.logits = MatrixView(predictions.data(), count, 1);
    rows.targets = MatrixView(targets.data(), count, 1);
    return rows;
  }
  std::vector<float> keys, targets, predictions;
};

struct BadWave {
  const char* name;
  std::function<void(Wave* train, Wave* held_out)> spoil;
  const char* refused = nullptr;
  std::vector<int64_t> grid_k = {3, 20};
};

std::vector<BadWave> BadWaves() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto each = [](Wave* one, Wave* other, const std::function<void(Wave*)>& spoil) {
    spoil(one);
    spoil(other);
  };
  return {
      {"targets that never change",
       [=](Wave* train, Wave* held_out) {
         each(train, held_out, [](Wave* one) { std::ranges::fill(one->targets, 2.0f); });
       }},
      {"a base that is always right",
       [=](Wave* train, Wave* held_out) {
         each(train, held_out, [](Wave* one) { one->predictions = one->targets; });
       }},
      {"k beyond the memory", [](Wave*, Wave*) {}, nullptr, {1, 100000}},
      {"all distances equal",
       [](Wave* train, Wave* held_out) {
         std::ranges::fill(train->keys, 1.0f);
         std::ranges::fill(held_out->keys, 3.0f);
       }},
      {"a key value that never changes",
       [=](Wave* train, Wave* held_out) {
         each(train, held_out, [](Wave* one) {
           for (size_t i = 0; i < one->keys.size(); i += 2) one->keys[i] = 1e6f;
         });
       }},
      {"every row many times",
       [](Wave* train, Wave* held_out) {
         for (size_t row = 3; row < train->targets.size(); ++row) {
           train->targets[row] = train->targets[row % 3];
           for (size_t d = 0; d < 2; ++d) train->keys[2 * row + d] = train->keys[row % 3 * 2 + d];
         }
         *held_out = *train;
       }},
      {"targets that are huge",
       [=](Wave* train, Wave* held_out) {
         each(train, held_out, [](Wave* one) {
           for (float& target : one->targets) target *= 1e15f;
         });
       }},
      {"a key that is no number", [nan](Wave*, Wave* held_out) { held_out->keys[3] = nan; },
       "query 1, column 1"},
      {"a prediction that is no number",
       [nan](Wave*, Wave* held_out) { held_out->predictions[7] = nan; },
       "predictions hold nan at row 7"},
      {"a target that is no number", [nan](Wave*, Wave* held_out) { held_out->targets[7] = nan; },
       "targets hold nan at row 7"},
  };
}

TEST_F(BadInputTest, GivesAClearErrorOrFiniteRegressions) {
  const TemporaryFolder folder;
  for (const BadWave& bad : BadWaves()) {
    SCOPED_TRACE(bad.name);
    Wave train(140, 1), held_out(130, 2);
    bad.spoil(&train, &held_out);
    MemoryDescription description;
    description.task = Task::kRegression;
    description.form = ResidualForm::kDense;
    description.dim = 2;
    description.outputs = 1;
    description.parameters = {5, 0.5f, 1};
    const std::string path = folder / "m.resmem";
    std::filesystem::remove_all(path);
    fixtures::Write(path, description, train.view());
    TuneOptions options;
    options.folds = 3;
    options.grid.k = bad.grid_k;
    options.grid.sigma = {0.5f, 1};
    options.key_transforms = kTransforms;
    const Result<Tuning> tuning =
        Tune(Predictor(fixtures::Open(path)), ReadRows(held_out.view()), options);
    if (bad.refused != nullptr) {
      ASSERT_FALSE(tuning.ok());
      EXPECT_NE(tuning.status().message().find(bad.refused), std::string::npos)
          << tuning.status().message();
      continue;
    }
    ASSERT_TRUE(tuning.ok()) << tuning.status().message();
    ASSERT_TRUE(tuning->blend.has_value());
    EXPECT_TRUE(std::isfinite(tuning->blend->nll_gain));
    EXPECT_TRUE(std::isfinite(tuning->chosen_loss));
    const Status updated = UpdateDescription(path, ApplyTuning(description, *tuning));
    ASSERT_TRUE(updated.ok()) << updated.message();
    const ResidualMemory memory = fixtures::Open(path);
    const Predictor predictor(memory);
    std::vector<float> answers(held_out.targets.size());
    for (const Method method : {Method::kResMem, memory.description().answer}) {
      const Rows rows = held_out.view();
      const Status status =
          predictor.Predict(rows.keys, rows.logits, predictor.OptionsOf(method), answers);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(AllFinite(answers)) << MethodName(method);
    }
  }
}

}  // namespace
}  // namespace resmem
