#include "recipe/train_recipe.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "recipe/recipe_codec.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kDepths[] = {8, 14, 20, 32, 44, 56};
constexpr int64_t kMostHidden = 65536;

Status Invalid(const std::string& message) {
  return Status(ErrorCode::kInvalidArgument, message);
}

template <typename T>
bool ParseNumber(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

struct TrainRecipeLayout {
  static constexpr char kVersionField[] = "resmem_recipe";
  static constexpr int64_t kVersion = 1;
  // Recipes from before there was a choice: their checkpoints say float32, their rows were drawn
  // without regard to the class.
  static constexpr bool MayLack(std::string_view name) {
    return name == "precision" || name == "balanced";
  }
  static constexpr bool IsCompared(std::string_view) { return true; }

  template <typename Recipe, typename Visit>
  static void Each(Recipe& r, Visit&& visit) {
    visit("network", r.network);
    visit("images", r.images);
    visit("part", r.part);
    visit("inputs", r.inputs);
    visit("labels", r.labels);
    visit("height", r.height);
    visit("width", r.width);
    visit("rows", r.rows);
    visit("balanced", r.balanced);
    visit("validation_rows", r.validation_rows);
    visit("test_part", r.test_part);
    visit("crop_padding", r.crop_padding);
    visit("flip", r.flip);
    visit("preset", r.preset);
    visit("epochs", r.epochs);
    visit("batch", r.batch);
    visit("schedule", r.schedule);
    visit("peak_rate", r.peak_rate);
    visit("warmup_epochs", r.warmup_epochs);
    visit("drop_epochs", r.drop_epochs);
    visit("drop_factor", r.drop_factor);
    visit("momentum", r.momentum);
    visit("nesterov", r.nesterov);
    visit("weight_decay", r.weight_decay);
    visit("label_smoothing", r.label_smoothing);
    visit("seed", r.seed);
    visit("precision", r.precision);
    visit("threads", r.threads);
    visit("evaluate_every", r.evaluate_every);
    visit("keep_epochs", r.keep_epochs);
  }
};

}  // namespace

Result<NetworkName> ParseNetworkName(const std::string& name) {
  NetworkName parsed;
  const std::string_view text = name;
  if (text.starts_with("resnet") && ParseNumber(text.substr(6), &parsed.depth) &&
      std::find(std::begin(kDepths), std::end(kDepths), parsed.depth) != std::end(kDepths)) {
    return parsed;
  }
  if (text == "mobilenetv2") {
    parsed.family = NetworkFamily::kMobileNet;
    parsed.width = 1;
    return parsed;
  }
  if (text.starts_with("mobilenetv2-") && ParseNumber(text.substr(12), &parsed.width) &&
      parsed.width >= 0.1 && parsed.width <= 4) {
    parsed.family = NetworkFamily::kMobileNet;
    return parsed;
  }
  parsed.family = NetworkFamily::kPerceptron;
  if (text == "linear") return parsed;
  if (text.starts_with("mlp-")) {
    bool sound = true;
    for (std::string_view rest = text.substr(4); sound;) {
      const size_t dash = rest.find('-');
      int64_t units = 0;
      sound = ParseNumber(rest.substr(0, dash), &units) && units >= 1 && units <= kMostHidden;
      parsed.hidden.push_back(units);
      if (dash == std::string_view::npos) break;
      rest = rest.substr(dash + 1);
    }
    if (sound) return parsed;
  }
  return Invalid(Text("there is no network \"", name,
                      "\"; there are resnet8, 14, 20, 32, 44 and 56, mobilenetv2-WIDTH "
                      "(mobilenetv2-0.5), linear and mlp-HIDDEN (mlp-128, mlp-256-64)"));
}

Status ApplyPreset(const std::string& name, TrainRecipe* recipe) {
  if (name == "short" || name == "long") {
    const TrainRecipe defaults;
    const int64_t times = name == "short" ? 1 : 4;
    recipe->epochs = times * defaults.epochs;
    recipe->schedule = defaults.schedule;
    recipe->peak_rate = defaults.peak_rate;
    recipe->warmup_epochs = static_cast<double>(times) * defaults.warmup_epochs;
    recipe->drop_epochs = defaults.drop_epochs;
    recipe->nesterov = defaults.nesterov;
    recipe->weight_decay = defaults.weight_decay;
    recipe->evaluate_every = times * defaults.evaluate_every;
  } else if (name == "paper") {
    recipe->epochs = 256;
    recipe->schedule = RateSchedule::kSteps;
    recipe->peak_rate = 0.4;
    recipe->warmup_epochs = 15;
    recipe->drop_epochs = {96, 192, 224};
    recipe->nesterov = false;
    recipe->weight_decay = 1e-4;  // the paper gives none; this one is usual
    recipe->evaluate_every = 4;
  } else {
    return Invalid(Text("there is no preset \"", name, "\"; there are short, long and paper"));
  }
  recipe->preset = name;
  recipe->batch = 128;
  recipe->momentum = 0.9;
  recipe->drop_factor = 0.1;
  recipe->label_smoothing = 0;
  recipe->crop_padding = 4;
  recipe->flip = true;
  return {};
}

Status CheckTrainRecipe(const TrainRecipe& r) {
  RESMEM_ASSIGN_OR_RETURN(const NetworkName name, ParseNetworkName(r.network));
  const bool table = name.family == NetworkFamily::kPerceptron;
  if (table && (r.inputs.empty() || r.labels.empty())) {
    return Invalid(Text(r.network, " learns from table rows: give inputs and labels"));
  }
  if (!table && r.images.empty()) {
    return Invalid(Text(r.network, " learns from images: give images"));
  }
  if (!r.test_part.empty() && !r.labels.empty()) {
    return Invalid("a test part cannot be watched where labels come from a file of their own");
  }
  if (r.balanced && r.rows == 0) {
    return Invalid("rows that are balanced by class need a number: rows is 0, which means all");
  }
  constexpr int64_t kMostRows = 1'000'000'000'000;
  RESMEM_RETURN_IF_ERROR(InRange("height", r.height, 0, 4096));
  RESMEM_RETURN_IF_ERROR(InRange("width", r.width, 0, 4096));
  if ((r.height == 0) != (r.width == 0)) return Invalid("height and width belong together");
  RESMEM_RETURN_IF_ERROR(InRange("rows", r.rows, 0, kMostRows));
  RESMEM_RETURN_IF_ERROR(InRange("validation rows", r.validation_rows, 0, kMostRows));
  RESMEM_RETURN_IF_ERROR(InRange("crop padding", r.crop_padding, 0, 512));
  RESMEM_RETURN_IF_ERROR(InRange("epochs", r.epochs, 1, 100000));
  RESMEM_RETURN_IF_ERROR(InRange("batch", r.batch, 1, 65536));
  RESMEM_RETURN_IF_ERROR(InRange("peak rate", r.peak_rate, 1e-9, 1e3));
  RESMEM_RETURN_IF_ERROR(
      InRange("warm-up epochs", r.warmup_epochs, 0, static_cast<double>(r.epochs)));
  RESMEM_RETURN_IF_ERROR(InRange("drop factor", r.drop_factor, 0, 1));
  RESMEM_RETURN_IF_ERROR(InRange("momentum", r.momentum, 0, 0.9999));
  RESMEM_RETURN_IF_ERROR(InRange("weight decay", r.weight_decay, 0, 1));
  RESMEM_RETURN_IF_ERROR(InRange("label smoothing", r.label_smoothing, 0, 0.99));
  RESMEM_RETURN_IF_ERROR(InRange("threads", r.threads, 0, 1024));
  RESMEM_RETURN_IF_ERROR(InRange("epochs between evaluations", r.evaluate_every, 1, 100000));
  for (const auto* list : {&r.drop_epochs, &r.keep_epochs}) {
    if (!std::is_sorted(list->begin(), list->end()) || (!list->empty() && list->front() < 1)) {
      return Invalid("epochs in a list must rise from 1 on");
    }
  }
  if (!r.keep_epochs.empty() && r.keep_epochs.back() > r.epochs) {
    return Invalid(Text("epoch ", r.keep_epochs.back(), " cannot be kept: there are ", r.epochs));
  }
  return {};
}

std::string RecipeDifference(const TrainRecipe& a, const TrainRecipe& b) {
  return FirstDifference<TrainRecipeLayout>(a, b);
}

Status WriteTrainRecipe(const std::string& path, const TrainRecipe& recipe) {
  return WriteRecipeJson(path, RecipeJson<TrainRecipeLayout>(recipe));
}

Result<TrainRecipe> ReadTrainRecipe(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const TrainRecipe recipe,
                          (ReadRecipe<TrainRecipeLayout, TrainRecipe>(path)));
  RESMEM_RETURN_IF_ERROR(CheckTrainRecipe(recipe));
  return recipe;
}

}  // namespace resmem
