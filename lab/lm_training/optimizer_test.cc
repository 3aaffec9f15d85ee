#include "lm_training/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/random.h"

namespace resmem {
namespace {

class OptimizerTest : public testing::Test {
 protected:
  OptimizerTest() {
    Random random(2);
    for (float& value : gradient_) value = static_cast<float>(random.Normal());
  }

  const LanguageModelShape shape_{32, 1, 1, 32, 32};
  const ParameterLayout layout_{shape_, 0.5};
  const std::vector<float> first_ = FirstParameters(layout_, 1);
  std::vector<float> gradient_ = std::vector<float>(static_cast<size_t>(layout_.size));
};

TEST_F(OptimizerTest, AdamWTakesTheStepsOfItsDefinition) {
  LmRecipe recipe;
  recipe.optimizer = LmOptimizer::kAdamW;
  recipe.weight_decay = 0.1;
  const auto optimizer = MakeOptimizer(recipe, layout_, 2);
  std::vector<float> values = first_;
  std::vector<double> expected(first_.begin(), first_.end()), mean(first_.size()),
      square(first_.size());
  for (int64_t step = 1; step <= 3; ++step) {
    const double factor = 0.5 * static_cast<double>(step), rate = 0.01;
    optimizer->Step(gradient_, factor, rate, step, values);
    for (const Parameter* parameter : layout_.All()) {
      for (int64_t i = parameter->offset; i < parameter->offset + parameter->size(); ++i) {
        const auto p = static_cast<size_t>(i);
        const double slope = gradient_[p] * factor;
        mean[p] = 0.9 * mean[p] + 0.1 * slope;
        square[p] = 0.98 * square[p] + 0.02 * slope * slope;
        if (parameter->rows > 1) expected[p] *= 1 - rate * 0.1;
        expected[p] -= rate * mean[p] / (1 - std::pow(0.9, step)) /
                       (std::sqrt(square[p] / (1 - std::pow(0.98, step))) + 1e-9);
      }
    }
  }
  for (size_t p = 0; p < values.size(); ++p) ASSERT_NEAR(values[p], expected[p], 1e-5) << p;
}

TEST_F(OptimizerTest, AdafactorsFirstStepIsRelativeToTheParameter) {
  LmRecipe recipe;
  recipe.optimizer = LmOptimizer::kAdafactor;
  const auto optimizer = MakeOptimizer(recipe, layout_, 1);
  std::vector<float> values = first_;
  constexpr double kRate = 0.01;
  optimizer->Step(gradient_, 3.0, kRate, 1, values);
  for (const Parameter* parameter : layout_.All()) {
    // By the paper's algorithm 4 with a decay of 0 in the first step.
    const auto rows = static_cast<size_t>(parameter->rows);
    const auto columns = static_cast<size_t>(parameter->columns);
    const float* g = gradient_.data() + parameter->offset;
    std::vector<double> row_mean(rows), column_mean(columns);
    double all = 0, length = 0;
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        const double square = 9.0 * g[r * columns + c] * g[r * columns + c];
        row_mean[r] += square / static_cast<double>(columns);
        column_mean[c] += square / static_cast<double>(rows);
        all += square / static_cast<double>(rows * columns);
        length += std::pow(first_[static_cast<size_t>(parameter->offset) + r * columns + c], 2);
      }
    }
    std::vector<double> update(rows * columns);
    double size = 0;
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        const double moment = rows > 1 ? row_mean[r] * column_mean[c] / all : column_mean[c];
        update[r * columns + c] = 3.0 * g[r * columns + c] / std::sqrt(moment);
        size += std::pow(update[r * columns + c], 2);
      }
    }
    const auto count = static_cast<double>(rows * columns);
    const double scale =
        kRate * std::max(1e-3, std::sqrt(length / count)) / std::max(1.0, std::sqrt(size / count));
    for (size_t i = 0; i < update.size(); ++i) {
      const size_t p = static_cast<size_t>(parameter->offset) + i;
      ASSERT_NEAR(values[p], first_[p] - scale * update[i], 1e-6) << parameter->name;
    }
  }
}

TEST_F(OptimizerTest, StepsAndLengthsDoNotDependOnTheThreads) {
  for (const LmOptimizer kind : {LmOptimizer::kAdamW, LmOptimizer::kAdafactor}) {
    LmRecipe recipe;
    recipe.optimizer = kind;
    std::vector<float> alone = first_, together = first_;
    MakeOptimizer(recipe, layout_, 1)->Step(gradient_, 1, 0.1, 1, alone);
    MakeOptimizer(recipe, layout_, 3)->Step(gradient_, 1, 0.1, 1, together);
    EXPECT_EQ(alone, together);
    EXPECT_NE(alone, first_);
  }
  EXPECT_EQ(SquaredLength(gradient_, 1), SquaredLength(gradient_, 4));
  const std::vector<float> many(100000, 0.5f);
  EXPECT_EQ(SquaredLength(many, 2), 25000);
}

TEST(LmRate, PaperStaysAndThenFallsWithTheRoot) {
  LmRecipe recipe;
  ASSERT_TRUE(ApplyLmPreset("lm-paper", &recipe).ok());
  EXPECT_EQ(LmRateAt(recipe, 0, 1000000), 0.01);
  EXPECT_EQ(LmRateAt(recipe, 9999, 1000000), 0.01);
  EXPECT_NEAR(LmRateAt(recipe, 39999, 1000000), 0.005, 1e-12);
}

TEST(LmRate, AShortRunLeavesItsWarmUp) {
  LmRecipe recipe;
  ASSERT_TRUE(ApplyLmPreset("lm-short", &recipe).ok());
  for (const int64_t steps : {4, 10, 40, 230, 799}) {
    ASSERT_GT(recipe.warmup_steps, steps / 4);
    EXPECT_EQ(LmWarmupSteps(recipe, steps), steps / 4);
    double largest = 0;
    for (int64_t step = 0; step < steps; ++step) {
      largest = std::max(largest, LmRateAt(recipe, step, steps));
    }
    EXPECT_NEAR(largest, recipe.peak_rate, 1e-12) << steps;
    EXPECT_NEAR(LmRateAt(recipe, steps - 1, steps), recipe.peak_rate / 10, 1e-12) << steps;
  }
  EXPECT_EQ(LmWarmupSteps(recipe, 1000), recipe.warmup_steps);
}

TEST(LmRate, ShortRisesAndFallsToATenth) {
  LmRecipe recipe;
  ASSERT_TRUE(ApplyLmPreset("lm-short", &recipe).ok());
  const int64_t warmup = recipe.warmup_steps;
  EXPECT_NEAR(LmRateAt(recipe, 0, 1000), recipe.peak_rate / static_cast<double>(warmup), 1e-12);
  EXPECT_NEAR(LmRateAt(recipe, warmup - 1, 1000), recipe.peak_rate, 1e-12);
  for (int64_t step = warmup; step < 1000; ++step) {
    EXPECT_LT(LmRateAt(recipe, step, 1000), LmRateAt(recipe, step - 1, 1000));
  }
  EXPECT_NEAR(LmRateAt(recipe, 999, 1000), recipe.peak_rate / 10, 1e-12);
}

TEST(LmWarmupSteps, AShortRunLeavesItsWarmUpAfterAQuarter) {
  LmRecipe recipe;
  recipe.warmup_steps = 1000;
  EXPECT_EQ(LmWarmupSteps(recipe, 400), 100);
  EXPECT_EQ(LmWarmupSteps(recipe, 40000), 1000);
  double highest = 0;
  for (int64_t step = 0; step < 400; ++step) {
    highest = std::max(highest, LmRateAt(recipe, step, 400));
  }
  EXPECT_DOUBLE_EQ(highest, recipe.peak_rate);
}

}  // namespace
}  // namespace resmem
