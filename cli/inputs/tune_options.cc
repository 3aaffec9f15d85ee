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
             "cross-validate with N folds; 0: do not, and fit no blend")
      .Default("5, below 100 rows 0");
  line.Value("--seed", &options->seed, "N", "of the folds");
  line.Group("Grid (values 10,20,50 or a range low:high:count)");
  line.Value("--grid-k", &options->grid.k, "LIST", "values of k").Default("20 values");
  line.Value("--grid-sigma", &options->grid.sigma, "LIST", "values of sigma")
      .Default("20 values around the distances found");
  line.Value("--grid-temperature", &options->grid.temperature, "LIST", "values of T")
      .Default("20 values; a frozen memory's own");
}

}  // namespace resmem::cli
