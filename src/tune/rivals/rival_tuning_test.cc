#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fixtures/small_memory.h"
#include "resmem/tuner.h"

namespace resmem {
namespace {

using fixtures::Describe;
using fixtures::MakeProblem;
using fixtures::Problem;
using fixtures::TemporaryFolder;

class RivalTuningTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = folder_ / "m.resmem";
    fixtures::Write(path_, Describe(train_, {7, 0.9f, 1.3f}), train_.view());
    memory_ = std::make_unique<ResidualMemory>(fixtures::Open(path_));
  }
  Tuning Tuned(const Problem& rows, TuneOptions options = {}) {
    options.grid.temperature = {1, 1.4f};
    Result<Tuning> tuning = Tune(Predictor(*memory_), ReadRows(rows.view()), options);
    EXPECT_TRUE(tuning.ok()) << tuning.status().message();
    return tuning.ok() ? std::move(tuning).value() : Tuning();
  }
  // Mean NLL of kNN-LM, by the predictor.
  double NllOf(const Problem& rows, const Rivals::NeighborRival& at) {
    PredictOptions options;
    options.method = Method::kKnnLm;
    options.parameters = {at.k, at.sigma, 1.3f};
    options.lambda = at.lambda;
    std::vector<float> scores(static_cast<size_t>(rows.rows * 6));
    EXPECT_TRUE(
        Predictor(*memory_).Predict(rows.view().keys, rows.view().logits, options, scores).ok());
    double sum = 0;
    for (int64_t row = 0; row < rows.rows; ++row) {
      const auto label = static_cast<size_t>(rows.labels[static_cast<size_t>(row)]);
      sum -= std::log(std::max(scores[static_cast<size_t>(row) * 6 + label], 0x1p-23f));
    }
    return sum / static_cast<double>(rows.rows);
  }

  TemporaryFolder folder_;
  std::string path_;
  const Problem train_ = MakeProblem(1000, 5, 6, 1);
  const Problem held_out_ = MakeProblem(500, 5, 6, 2);
  const Problem test_ = MakeProblem(400, 5, 6, 3);
  std::unique_ptr<ResidualMemory> memory_;
};

TEST_F(RivalTuningTest, ARivalsOwnPointIsBetterThanThoseAroundIt) {
  const Tuning tuning = Tuned(held_out_);
  ASSERT_TRUE(tuning.rivals.knn_lm.has_value());
  const Rivals::NeighborRival best = *tuning.rivals.knn_lm;
  const double nll = NllOf(held_out_, best);
  for (const float factor : {0.6f, 1.6f}) {
    Rivals::NeighborRival other = best;
    other.sigma *= factor;
    EXPECT_LE(nll, NllOf(held_out_, other) + 1e-6) << factor;
    other = best;
    other.k = static_cast<int64_t>(static_cast<float>(best.k) * factor);
    EXPECT_LE(nll, NllOf(held_out_, other) * 1.01) << factor;
    other = best;
    other.lambda = std::min(best.lambda * factor, 0.99f);
    EXPECT_LE(nll, NllOf(held_out_, other) + 1e-6) << factor;
  }
}

TEST_F(RivalTuningTest, EveryRivalBeatsTheBaseWhereItCan) {
  const Tuning tuning = Tuned(held_out_);
  ASSERT_EQ(tuning.rival_tunings.size(), 4u);
  EXPECT_STREQ(ResultName(tuning.rival_tunings[0].method, tuning.rival_tunings[0].refit),
               "temperature");
  EXPECT_STREQ(ResultName(tuning.rival_tunings[1].method, tuning.rival_tunings[1].refit),
               "last-layer");
  ASSERT_TRUE(tuning.blend.has_value());
  EXPECT_NEAR(tuning.rival_tunings[0].nll, tuning.blend->scaled_nll, 1e-3);
  EXPECT_NEAR(*tuning.rivals.temperature, tuning.blend->blend->base_temperature, 1e-3);
  // Keys tell what logits do not.
  EXPECT_LT(tuning.rival_tunings[1].nll, tuning.rival_tunings[0].nll);
  EXPECT_LT(tuning.rival_tunings[3].nll, tuning.rival_tunings[0].nll);
}

TEST_F(RivalTuningTest, AnEvaluationUsesWhatTheMemoryRemembers) {
  const Tuning tuning = Tuned(held_out_);
  ASSERT_TRUE(UpdateDescription(path_, ApplyTuning(memory_->description(), tuning)).ok());
  const ResidualMemory memory = fixtures::Open(path_);
  const std::optional<Rivals> rivals = RivalsOf(memory.description());
  ASSERT_TRUE(rivals.has_value());
  EXPECT_EQ(rivals->knn_lm->k, tuning.rivals.knn_lm->k);
  EXPECT_EQ(rivals->knn_lm->sigma, tuning.rivals.knn_lm->sigma);
  EXPECT_EQ(rivals->last_layer->weights, tuning.rivals.last_layer->weights);
  const Result<Evaluation> evaluation = Evaluate(Predictor(memory), ReadRows(test_.view()));
  ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
  const auto own = std::find_if(
      evaluation->methods.begin(), evaluation->methods.end(),
      [](const MethodResult& result) { return result.method == Method::kKnnLm && result.own; });
  ASSERT_NE(own, evaluation->methods.end());
  EXPECT_EQ(own->parameters.k, rivals->knn_lm->k);
  EXPECT_NEAR(*own->nll, NllOf(test_, *rivals->knn_lm), 1e-6);
  ASSERT_TRUE(own->metrics.has_value());
  // Every two of base, nearest class mean, temperature, last layer, k-NN, kNN-LM, ResMem, answer.
  EXPECT_EQ(evaluation->pairs.size(), 8u * 7 / 2);
  for (const MethodPair& pair : evaluation->pairs) {
    const MethodResult& left = evaluation->methods[pair.left];
    const MethodResult& right = evaluation->methods[pair.right];
    EXPECT_EQ(pair.gain.fixed - pair.gain.harmed, right.accuracy.correct - left.accuracy.correct);
    if (!pair.nll) continue;
    EXPECT_NEAR(pair.nll->value, *left.nll - *right.nll, 1e-9);
  }
  // Undone, the rivals go as well.
  const Result<MemoryDescription> undone = UndoTuning(memory.description());
  ASSERT_TRUE(undone.ok());
  EXPECT_FALSE(RivalsOf(*undone).has_value());
}

TEST_F(RivalTuningTest, AccuracyIsAnObjectiveForRivalsToo) {
  TuneOptions options;
  options.objective = Objective::kGain;
  options.folds = 0;
  options.method = Method::kResMem;
  const Tuning by_accuracy = Tuned(held_out_, options);
  options.objective = Objective::kNll;
  const Tuning by_nll = Tuned(held_out_, options);
  for (size_t i = 2; i < 4; ++i) {
    EXPECT_GE(by_accuracy.rival_tunings[i].gain.gain, by_nll.rival_tunings[i].gain.gain);
    EXPECT_LE(by_nll.rival_tunings[i].nll, by_accuracy.rival_tunings[i].nll);
  }
}

TEST_F(RivalTuningTest, BelowAHundredRowsNothingIsFitted) {
  const Tuning tuning = Tuned(MakeProblem(80, 5, 6, 2));
  EXPECT_FALSE(tuning.rivals.temperature.has_value());
  EXPECT_FALSE(tuning.rivals.last_layer.has_value());
  EXPECT_FALSE(tuning.rivals.knn.has_value() || tuning.rivals.knn_lm.has_value());
  EXPECT_TRUE(tuning.rival_tunings.empty());
  const MemoryDescription after = ApplyTuning(memory_->description(), tuning);
  EXPECT_EQ(after.parameters, memory_->description().parameters);
  EXPECT_EQ(after.notes, memory_->description().notes);
}

}  // namespace
}  // namespace resmem
