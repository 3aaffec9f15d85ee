#include "inputs/tune_options.h"

namespace resmem::cli {

void DeclareTuning(CommandLine& line, TuneOptions* options) {
  line.Group("Choice");
  line.Choice<Method, Method>(
      "--method", &options->method,
      {{"blend", Method::kBlend},
       {"logit-boost", Method::kLogitBoost},
       {"resmem", Method::kResMem}},
      "what the memory shall answer by (docs/predictor.md): the blend; base plus residual in log "
      "space, whose ledger is an exact sum; or the paper's ResMem, for which k, sigma and T are "
      "chosen in any case");
  line.Choice<Objective, Objective>(
      "--objective", &options->objective,
      {{"nll", Objective::kNll},
       {"accuracy", Objective::kGain},
       {"tpr-at-fpr", Objective::kTprUnderFpr},
       {"gain", Objective::kGain},
       {"tpr-under-fpr", Objective::kTprUnderFpr}},
      "lowest negative log-likelihood (ResMem's own parameters then by accuracy), highest "
      "accuracy, or most rows fixed while the share harmed stays below --fpr-limit; the last two "
      "are older names");
  line.Value("--fpr-limit", &options->fpr_limit, "X",
             "tpr-at-fpr: share of rows that may be harmed, 0 to 1");
  line.Value("--folds", &options->folds, "N",
             "cross-validate with N folds; 0: do not, and fit no blend; ResMem's values are then "
             "taken "
             "untested with --method resmem, and not at all without it")
      .Default("5, below 100 rows 0");
  line.Value("--seed", &options->seed, "N", "of the folds");
  line.Value("--fit-memory", &options->fit_megabytes, "MB",
             "what the blend may hold of the rows it is fitted on, 20 bytes for each class of a "
             "row; of more rows than fit, as many as do, evenly spread");
  line.Group("Grid (values 10,20,50 or a range low:high:count)");
  line.Value("--grid-k", &options->grid.k, "LIST", "values of k").Default("20 values");
  line.Value("--grid-sigma", &options->grid.sigma, "LIST", "values of sigma")
      .Default("20 values around the distances found");
  line.Value("--grid-temperature", &options->grid.temperature, "LIST", "values of T")
      .Default("20 values; a frozen memory's own");
}

std::string TuningNote(const Tuning& tuning, bool dry_run, const std::string& memory_path) {
  if (dry_run) return "dry run: " + memory_path + " is unchanged";
  return tuning.answer.has_value() ? "written into " + memory_path
                                   : "nothing was fitted: " + memory_path + " is unchanged";
}

void DeclareKeyTransform(CommandLine& line, TuneOptions* options) {
  const std::vector<KeyTransform> every = {KeyTransform::kNone, KeyTransform::kUnit,
                                           KeyTransform::kWhiten};
  line.Group("Choice");
  options->key_transforms = every;
  using Transforms = std::vector<KeyTransform>;
  line.Choice<Transforms, Transforms>(
      "--key-transform", &options->key_transforms,
      {{"auto", every},
       {"keep", {}},
       {"none", {KeyTransform::kNone}},
       {"unit", {KeyTransform::kUnit}},
       {"whiten", {KeyTransform::kWhiten}}},
      "what is done to keys before distances are measured (docs/predictor.md): the one whose blend "
      "has the lowest cross-validated NLL, the memory's own unless another is clearly better; the "
      "memory's own; or this one. Another than the memory's own rewrites its keys");
}

}  // namespace resmem::cli
