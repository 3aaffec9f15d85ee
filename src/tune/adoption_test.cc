#include "tune/adoption.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "fixtures/small_memory.h"

namespace resmem {
namespace {

using fixtures::MakeProblem;
using fixtures::Problem;

constexpr Parameters kFormer = {7, 0.9f, 1.3f};

bool Warns(const Tuning& tuning, const std::string& words) {
  return std::ranges::any_of(tuning.warnings, [&](const std::string& warning) {
    return warning.find(words) != std::string::npos;
  });
}

// Keys that say nothing: where rows lie near each other it is by chance.
Problem WithoutKeys(Problem problem, uint64_t seed) {
  Random random(seed);
  for (float& value : problem.keys) value = static_cast<float>(random.Normal());
  return problem;
}

TuneOptions OnlyResMem() {
  TuneOptions options;
  options.method = Method::kResMem;
  return options;
}

class AdoptionTest : public testing::Test {
 protected:
  void Build(const Problem& train) {
    std::filesystem::remove_all(folder_ / "m");
    fixtures::Write(folder_ / "m", fixtures::Describe(train, kFormer), train.view());
    memory_ = std::make_unique<ResidualMemory>(fixtures::Open(folder_ / "m"));
  }
  Tuning Tuned(const Problem& rows, const TuneOptions& options) const {
    const Predictor predictor(*memory_);
    const Result<Tuning> tuning = Tune(predictor, ReadRows(rows.view()), options);
    EXPECT_TRUE(tuning.ok()) << tuning.status().message();
    return tuning.ok() ? *tuning : Tuning();
  }
  void Store(const MemoryDescription& description) {
    ASSERT_TRUE(UpdateDescription(folder_ / "m", description).ok());
    memory_ = std::make_unique<ResidualMemory>(fixtures::Open(folder_ / "m"));
  }
  void ExpectUnchangedBy(const Tuning& tuning) const {
    const MemoryDescription& before = memory_->description();
    const MemoryDescription after = ApplyTuning(before, tuning);
    EXPECT_FALSE(tuning.answer.has_value());
    EXPECT_EQ(after.answer, before.answer);
    EXPECT_EQ(after.blend, before.blend);
    EXPECT_EQ(after.parameters, before.parameters);
    EXPECT_EQ(after.key_transform, before.key_transform);
    EXPECT_EQ(after.tuned, before.tuned);
    EXPECT_EQ(after.calibrator, before.calibrator);
    EXPECT_EQ(after.notes, before.notes);
  }

  fixtures::TemporaryFolder folder_;
  std::unique_ptr<ResidualMemory> memory_;
  const Problem train_ = MakeProblem(500, 5, 6, 1), held_out_ = MakeProblem(300, 5, 6, 2);
};

TEST_F(AdoptionTest, ResMemIsTakenWhereCrossValidationShowsAGain) {
  Build(train_);
  const Tuning tuning = Tuned(held_out_, OnlyResMem());
  EXPECT_GT(tuning.cross_validated_gain->interval.low, 0);
  EXPECT_EQ(tuning.answer, Method::kResMem);
  EXPECT_EQ(tuning.resmem_reason, "");
  const MemoryDescription after = ApplyTuning(memory_->description(), tuning);
  EXPECT_EQ(after.answer, Method::kResMem);
  EXPECT_EQ(after.parameters, tuning.chosen);
  EXPECT_TRUE(after.tuned);
}

TEST_F(AdoptionTest, WhatIsBestByChanceIsNot) {
  const Problem noise = WithoutKeys(held_out_, 8);
  Build(WithoutKeys(train_, 7));
  const Tuning tuning = Tuned(noise, OnlyResMem());
  EXPECT_GT(tuning.chosen_gain.gain, 0) << "on the rows it was chosen on some point looks good";
  EXPECT_LE(tuning.cross_validated_gain->interval.low, 0);
  EXPECT_EQ(tuning.answer, Method::kBase);
  EXPECT_TRUE(Warns(tuning,
                    "The memory keeps the base's answer: cross-validation does not support "
                    "ResMem's values: accuracy changes by "));
  const MemoryDescription after = ApplyTuning(memory_->description(), tuning);
  EXPECT_EQ(after.answer, Method::kBase);
  EXPECT_EQ(after.parameters, kFormer);
  EXPECT_FALSE(after.tuned);
  EXPECT_NE(after.notes.at("tuning").find("resmem_reason"), std::string::npos);
  const Result<MemoryDescription> undone = UndoTuning(after);
  ASSERT_TRUE(undone.ok());
  EXPECT_EQ(undone->answer, Method::kResMem);
}

TEST_F(AdoptionTest, AnAnswerThatWasFittedIsNotLostToNoise) {
  Build(train_);
  const Tuning blend = Tuned(held_out_, {});
  ASSERT_EQ(blend.answer, Method::kBlend);
  Store(ApplyTuning(memory_->description(), blend));
  const Tuning noise = Tuned(WithoutKeys(held_out_, 8), OnlyResMem());
  EXPECT_TRUE(Warns(noise, "Nothing is stored, the memory answers as before: cross-validation"));
  ExpectUnchangedBy(noise);
}

TEST_F(AdoptionTest, FewRowsChangeNothing) {
  Build(train_);
  const Problem few = MakeProblem(99, 5, 6, 2);
  for (const Method method : {Method::kBlend, Method::kResMem}) {
    for (const std::optional<int64_t> folds :
         {std::optional<int64_t>(), std::optional<int64_t>(0), std::optional<int64_t>(5)}) {
      TuneOptions options;
      options.method = method;
      options.folds = folds;
      options.key_transforms = {KeyTransform::kUnit};
      const Tuning tuning = Tuned(few, options);
      EXPECT_TRUE(Warns(tuning, "only 99 held-out rows"));
      EXPECT_TRUE(Warns(tuning, "Nothing is stored, the memory answers as before"));
      EXPECT_TRUE(tuning.rival_tunings.empty());
      ExpectUnchangedBy(tuning);
    }
  }
}

TEST_F(AdoptionTest, WithoutFoldsResMemIsTakenOnlyIfAskedFor) {
  Build(train_);
  TuneOptions options;
  options.folds = 0;
  ExpectUnchangedBy(Tuned(held_out_, options));
  options.method = Method::kResMem;
  const Tuning asked = Tuned(held_out_, options);
  EXPECT_EQ(asked.answer, Method::kResMem);
  EXPECT_TRUE(Warns(asked, "nothing else supports them"));
  EXPECT_EQ(ApplyTuning(memory_->description(), asked).parameters, asked.chosen);
}

// Labels of one prior and a base of another: the more neighbors, the better is the prior known.
TEST_F(AdoptionTest, KGoesBeyondItsUsualEndUpToItsCap) {
  const auto skewed = [](int64_t count, uint64_t seed) {
    Problem problem = WithoutKeys(MakeProblem(count, 3, 6, seed), seed + 10);
    Random random(seed);
    for (int32_t& label : problem.labels) {
      label = static_cast<int32_t>(std::min<uint64_t>(random.Below(12), 5));
    }
    std::ranges::fill(problem.logits, 0.0f);
    return problem;
  };
  TuneOptions options;
  options.grid.temperature = {1};
  for (const int64_t rows : {600, 1500}) {
    Build(skewed(rows, 1));
    const Tuning tuning = Tuned(skewed(400, 2), options);
    ASSERT_TRUE(tuning.blend && tuning.blend->blend);
    EXPECT_GT(tuning.blend->blend->parameters.k, 500);
    EXPECT_EQ(tuning.grid.k.back(), std::min(rows, kMostTunedK));
  }
  options.grid.k = {20, 500};
  EXPECT_EQ(Tuned(skewed(400, 2), options).blend->blend->parameters.k, 500);
}

}  // namespace
}  // namespace resmem
