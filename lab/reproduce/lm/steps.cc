#include "reproduce/lm/steps.h"

#include "reproduce/lm/experiments.h"
#include "resmem/residual_memory.h"

namespace resmem::cli::reproduce::lm {
namespace {

// What the trained network depends on, without places and threads.
Json TrainingSettings(const Workspace& workspace) {
  if (!workspace.trains()) {
    const Result<std::string> digest = DigestFile(workspace.model());
    return {{"run", digest.ok() ? *digest : "not there yet"}};
  }
  const LmRecipe recipe = workspace.Recipe();
  return {{"network", recipe.network}, {"preset", recipe.preset}, {"vocabulary", recipe.vocabulary},
          {"passes", recipe.passes},   {"batch", recipe.batch},   {"peak_rate", recipe.peak_rate},
          {"seed", recipe.seed}};
}

}  // namespace

std::vector<Step> ListSteps(Workspace& workspace) {
  std::vector<Step> steps;
  const WorkspaceOptions& options = workspace.options();
  const auto add = [&](const std::string& name, const std::string& title, double seconds,
                       std::vector<std::string> needs, Json settings,
                       std::function<Result<Json>(const Context&)> run) {
    Step step;
    step.name = name;
    step.title = title;
    step.seconds = options.quick ? 1 : seconds;
    step.needs = std::move(needs);
    step.settings = std::move(settings);
    step.run = [run = std::move(run), &workspace](const StepContext& context) {
      return run({context, workspace});
    };
    steps.push_back(std::move(step));
  };
  // On two cores with AMX: microseconds a token, and a token and million keys.
  const auto tokens = [](int64_t count, double microseconds) {
    return static_cast<double>(count > 0 ? count : 400'000) * microseconds * 1e-6;
  };
  const double million_keys = static_cast<double>(options.tokens_kept) / 1e6;
  add("tokens", "text to tokens", 60, {}, {{"quick", options.quick}}, EncodeTexts);
  add("train", workspace.trains() ? "train the language model, one pass" : "the run of --run",
      workspace.trains() ? 3300 : 1, {"tokens"}, TrainingSettings(workspace), TrainModel);
  add("memorize", "one key a token, the largest residuals", tokens(options.tokens_kept, 90),
      {"train"}, {{"tokens_kept", options.tokens_kept}}, Memorize);
  add("index", "lists for approximate search", 12 * million_keys, {"memorize"},
      {{"recall", options.recall}}, IndexKeys);
  add("tune", "k, sigma and the calibrator on the validation text",
      tokens(options.tune_tokens, 5'000), {"index"}, {{"tune_tokens", options.tune_tokens}},
      TuneMemory);
  for (const TextSet& set : workspace.sets()) {
    if (!set.judged) continue;
    add("eval-" + set.name,
        "every method on " + set.title + (set.in_domain ? "" : ", out of domain"),
        tokens(options.eval_tokens, 900), {"tune"}, {{"eval_tokens", options.eval_tokens}},
        [name = set.name](const Context& context) { return JudgeText(context, name); });
  }
  const Json exact = {{"exact_tokens", options.exact_tokens}};
  add("sizes", "the first 10 to 100 % of the memory, exact search",
      tokens(options.exact_tokens, 200 * million_keys + 3000), {"tune"}, exact, JudgeSizes);
  add("approximate", "accuracy by the index against exact search",
      tokens(options.exact_tokens, 1000), {"sizes"}, exact, JudgeIndex);
  add("examples", "tokens that were fixed, and harmed", tokens(options.exact_tokens, 600), {"tune"},
      exact, ShowExamples);
  return steps;
}

}  // namespace resmem::cli::reproduce::lm
