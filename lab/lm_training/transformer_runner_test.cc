#include "transformer/transformer_runner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/every_simd_level.h"
#include "lm_training/reference_model.h"
#include "lm_training/transformer.h"
#include "support/random.h"

namespace resmem {
namespace {

struct Answers {
  std::vector<float> keys, logits;
  bool operator==(const Answers&) const = default;
};

class TransformerRunnerTest : public testing::Test {
 protected:
  static constexpr int64_t kDim = 64, kVocabulary = 288, kContext = 70;

  TransformerRunnerTest() {
    Random random(5);
    for (const int64_t length : {40, 7, 70, 33, 1}) {
      ids_.emplace_back();
      for (int64_t i = 0; i < length; ++i) {
        ids_.back().push_back(static_cast<int32_t>(random.Below(kVocabulary)));
      }
    }
    // Norms and biases away from their first values.
    for (float& value : values_) value += static_cast<float>(0.05 * random.Normal());
  }

  TransformerRunner Runner(int threads = 1) const {
    return TransformerRunner(shape_, values_, kContext, threads);
  }
  static Answers Run(const TransformerRunner& runner, std::span<const TokenInput> windows) {
    size_t rows = 0;
    for (const TokenInput& window : windows) rows += static_cast<size_t>(window.wanted);
    Answers answers{std::vector<float>(rows * kDim), std::vector<float>(rows * kVocabulary)};
    runner.Run(windows, answers.keys.data(), answers.logits.data());
    return answers;
  }
  static Answers Run(const TransformerRunner& runner, const std::vector<int32_t>& ids) {
    const TokenInput window{ids, std::ssize(ids)};
    return Run(runner, {&window, 1});
  }

  // Root mean square of the difference, relative to that of the expected values.
  static double Difference(const std::vector<float>& found, const fixtures::Rows& expected) {
    double distance = 0, size = 0;
    size_t i = 0;
    for (const auto& row : expected) {
      for (const double value : row) {
        distance += std::pow(found[i++] - value, 2);
        size += value * value;
      }
    }
    return std::sqrt(distance / size);
  }

  const LanguageModelShape shape_{kDim, 2, 2, 96, kVocabulary};
  const ParameterLayout layout_{shape_, 0.5};
  std::vector<float> values_ = FirstParameters(layout_, 3);
  std::vector<std::vector<int32_t>> ids_;
};

TEST_F(TransformerRunnerTest, AnswersAreThoseOfTheDefinition) {
  const fixtures::ReferenceModel reference{shape_, layout_, values_};
  const auto expected = reference.Run(ids_[2]);
  AtEverySimdLevel([&] {
    const Answers answers = Run(Runner(), ids_[2]);
    // By the rounding to bfloat16, 1 of 256 a number.
    EXPECT_LT(Difference(answers.keys, expected.keys), 0.02);
    EXPECT_LT(Difference(answers.logits, expected.logits), 0.02);
  });
}

TEST_F(TransformerRunnerTest, AnswersAsTheOneThatLearns) {
  AtEverySimdLevel([&] {
    const Answers answers = Run(Runner(), ids_[0]);
    double loss = 0;
    int64_t right = 0;
    std::vector<int32_t> targets;
    for (size_t t = 0; t < ids_[0].size(); ++t) {
      const float* row = answers.logits.data() + t * kVocabulary;
      const auto best = static_cast<int32_t>(std::max_element(row, row + kVocabulary) - row);
      targets.push_back(t % 2 == 0 ? best : 3);
      right += targets.back() == best;
      double sum = 0;
      for (size_t v = 0; v < kVocabulary; ++v) sum += std::exp(static_cast<double>(row[v]));
      loss += std::log(sum) - row[targets.back()];
    }
    Transformer learner(shape_, layout_, kContext, 1);
    learner.SetParameters(values_);
    const TokenExample example{ids_[0], targets};
    const Outcome outcome = learner.Judge({&example, 1});
    EXPECT_NEAR(outcome.loss, loss, 1e-5 * loss);
    EXPECT_EQ(outcome.right, right);
  });
}

TEST_F(TransformerRunnerTest, AnAnswerDependsOnItsWindowAlone) {
  AtEverySimdLevel([&] {
    std::vector<TokenInput> windows;
    for (const auto& ids : ids_) windows.push_back({ids, std::ssize(ids)});
    const Answers together = Run(Runner(), windows);
    for (const int threads : {2, 5}) EXPECT_TRUE(Run(Runner(threads), windows) == together);
    Answers apart;
    const TransformerRunner runner = Runner();
    for (const auto& ids : ids_) {
      const Answers alone = Run(runner, ids);
      apart.keys.insert(apart.keys.end(), alone.keys.begin(), alone.keys.end());
      apart.logits.insert(apart.logits.end(), alone.logits.begin(), alone.logits.end());
    }
    EXPECT_TRUE(apart == together);
  });
}

TEST_F(TransformerRunnerTest, OnlyTheLastPositionsAreAnsweredWhereNoMoreAreWanted) {
  const TransformerRunner runner = Runner();
  const Answers all = Run(runner, ids_[2]);
  for (const int64_t wanted : {0, 1, 32, 45}) {
    const TokenInput window{ids_[2], wanted};
    const Answers some = Run(runner, {&window, 1});
    EXPECT_TRUE(std::equal(some.keys.begin(), some.keys.end(), all.keys.end() - wanted * kDim));
    EXPECT_TRUE(std::equal(some.logits.begin(), some.logits.end(),
                           all.logits.end() - wanted * kVocabulary));
  }
}

TEST_F(TransformerRunnerTest, WhatComesLaterChangesNothingBefore) {
  const TransformerRunner runner = Runner();
  std::vector<int32_t> other = ids_[2];
  for (size_t i = 50; i < other.size(); ++i) other[i] = (other[i] + 1) % kVocabulary;
  const Answers first = Run(runner, ids_[2]), second = Run(runner, other);
  const auto same = [](const std::vector<float>& a, const std::vector<float>& b, int64_t columns) {
    return std::equal(a.begin(), a.begin() + 50 * columns, b.begin());
  };
  EXPECT_TRUE(same(first.keys, second.keys, kDim));
  EXPECT_TRUE(same(first.logits, second.logits, kVocabulary));
  EXPECT_FALSE(first == second);
}

}  // namespace
}  // namespace resmem
