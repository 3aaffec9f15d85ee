// Recipes of language models: presets, bounds, JSON.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "lm_training/lm_training.h"
#include "recipe/recipe_codec.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr double kLastShare = 0.1;  // of the peak rate, at the end of a cosine

Status Invalid(const std::string& message) {
  return Status(ErrorCode::kInvalidArgument, message);
}

struct LmRecipeLayout {
  static constexpr char kVersionField[] = "resmem_lm_recipe";
  static constexpr int64_t kVersion = 1;
  static constexpr bool MayLack(std::string_view) { return false; }
  static constexpr bool IsCompared(std::string_view name) { return name != "threads"; }

  template <typename Recipe, typename Visit>
  static void Each(Recipe& r, Visit&& visit) {
    visit("network", r.network);
    visit("tokens", r.tokens);
    visit("validation", r.validation);
    visit("vocabulary", r.vocabulary);
    visit("context", r.context);
    visit("validation_windows", r.validation_windows);
    visit("preset", r.preset);
    visit("passes", r.passes);
    visit("batch", r.batch);
    visit("optimizer", r.optimizer);
    visit("schedule", r.schedule);
    visit("peak_rate", r.peak_rate);
    visit("warmup_steps", r.warmup_steps);
    visit("constant_steps", r.constant_steps);
    visit("weight_decay", r.weight_decay);
    visit("most_gradient", r.most_gradient);
    visit("dropout", r.dropout);
    visit("embedding_deviation", r.embedding_deviation);
    visit("seed", r.seed);
    visit("threads", r.threads);
    visit("evaluate_every", r.evaluate_every);
    visit("checkpoint_every", r.checkpoint_every);
  }
};

}  // namespace

Status ApplyLmPreset(const std::string& name, LmRecipe* recipe) {
  const LmRecipe defaults;
  if (name == "lm-short") {
    recipe->batch = defaults.batch;
    recipe->optimizer = defaults.optimizer;
    recipe->schedule = defaults.schedule;
    recipe->peak_rate = defaults.peak_rate;
    recipe->warmup_steps = defaults.warmup_steps;
    recipe->constant_steps = defaults.constant_steps;
    recipe->weight_decay = defaults.weight_decay;
    recipe->most_gradient = defaults.most_gradient;
    recipe->dropout = defaults.dropout;
    recipe->embedding_deviation = defaults.embedding_deviation;
  } else if (name == "lm-paper") {
    recipe->batch = 128;
    recipe->optimizer = LmOptimizer::kAdafactor;
    recipe->schedule = LmSchedule::kInverseRoot;
    recipe->peak_rate = 0.01;
    recipe->warmup_steps = 0;
    recipe->constant_steps = 10000;
    recipe->weight_decay = 0;
    recipe->most_gradient = 0;
    recipe->dropout = 0.1;
    recipe->embedding_deviation = 1;
  } else {
    return Invalid(Text("there is no preset \"", name, "\"; there are lm-short and lm-paper"));
  }
  recipe->preset = name;
  recipe->passes = defaults.passes;
  return {};
}

Status CheckLmRecipe(const LmRecipe& r) {
  constexpr int64_t kMost = int64_t{1} << 40, kStepOfVocabulary = 32;
  RESMEM_RETURN_IF_ERROR(InRange("vocabulary", r.vocabulary, 0, int64_t{1} << 24));
  // Names are checked against a vocabulary that is always right where the recipe's is open.
  RESMEM_RETURN_IF_ERROR(
      ParseLanguageModel(r.network, r.vocabulary == 0 ? kStepOfVocabulary : r.vocabulary).status());
  if (r.tokens.empty()) return Invalid("a language model learns from tokens: give a token set");
  RESMEM_RETURN_IF_ERROR(InRange("context", r.context, 2, 4096));
  RESMEM_RETURN_IF_ERROR(InRange("validation windows", r.validation_windows, 1, kMost));
  RESMEM_RETURN_IF_ERROR(InRange("passes", r.passes, 1, 100000));
  RESMEM_RETURN_IF_ERROR(InRange("batch", r.batch, 1, 65536));
  RESMEM_RETURN_IF_ERROR(InRange("peak rate", r.peak_rate, 1e-9, 1e3));
  RESMEM_RETURN_IF_ERROR(InRange("warm-up steps", r.warmup_steps, 0, kMost));
  RESMEM_RETURN_IF_ERROR(InRange("constant steps", r.constant_steps, 0, kMost));
  RESMEM_RETURN_IF_ERROR(InRange("weight decay", r.weight_decay, 0, 1));
  RESMEM_RETURN_IF_ERROR(InRange("most gradient", r.most_gradient, 0, 1e6));
  RESMEM_RETURN_IF_ERROR(InRange("dropout", r.dropout, 0, 0.9));
  RESMEM_RETURN_IF_ERROR(InRange("embedding deviation", r.embedding_deviation, 1e-6, 10));
  RESMEM_RETURN_IF_ERROR(InRange("threads", r.threads, 0, 1024));
  RESMEM_RETURN_IF_ERROR(InRange("steps between evaluations", r.evaluate_every, 1, kMost));
  return InRange("steps between checkpoints", r.checkpoint_every, 1, kMost);
}

int64_t LmWarmupSteps(const LmRecipe& recipe, int64_t steps) {
  constexpr int64_t kLeastRuns = 4;
  return std::min(recipe.warmup_steps, steps / kLeastRuns);
}

double LmRateAt(const LmRecipe& recipe, int64_t step, int64_t steps) {
  const auto now = static_cast<double>(step + 1);
  const auto warmup = static_cast<double>(LmWarmupSteps(recipe, steps));
  if (now < warmup) return recipe.peak_rate * now / warmup;
  if (recipe.schedule == LmSchedule::kInverseRoot) {
    const double constant = std::max(1.0, static_cast<double>(recipe.constant_steps));
    return recipe.peak_rate * std::sqrt(constant / std::max(constant, now));
  }
  const double rest = std::max(1.0, static_cast<double>(steps) - warmup);
  const double share = std::min(1.0, (now - warmup) / rest);
  return recipe.peak_rate *
         (kLastShare + (1 - kLastShare) * 0.5 * (1 + std::cos(std::numbers::pi * share)));
}

std::string LmRecipeDifference(const LmRecipe& a, const LmRecipe& b) {
  return FirstDifference<LmRecipeLayout>(a, b);
}

Status WriteLmRecipe(const std::string& path, const LmRecipe& recipe) {
  return WriteRecipeJson(path, RecipeJson<LmRecipeLayout>(recipe));
}

Result<LmRecipe> ReadLmRecipe(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const LmRecipe recipe, (ReadRecipe<LmRecipeLayout, LmRecipe>(path)));
  RESMEM_RETURN_IF_ERROR(CheckLmRecipe(recipe));
  return recipe;
}

}  // namespace resmem
