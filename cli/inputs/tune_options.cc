#include "inputs/tune_options.h"

namespace resmem::cli {

void DeclareTuning(CommandLine& line, TuneOptions* options) {
  line.Group("Choice");
  line.Choice<Objective, Objective>(
      "--objective", &options->objective,
      {{"gain", Objective::kGain}, {"tpr-under-fpr", Objective::kTprUnderFpr}},
      "what to maximize: the gain, or the rows fixed while the share of rows harmed stays below "
      "--fpr-limit");
  line.Value("--fpr-limit", &options->fpr_limit, "X",
             "share of rows that tpr-under-fpr may harm, 0 to 1");
  line.Value("--folds", &options->folds, "N", "also cross-validate the gain with N folds")
      .Default("off");
  line.Value("--seed", &options->seed, "N", "seed of the folds");
  line.Group("Grid (values 10,20,50 or a range low:high:count)");
  line.Value("--grid-k", &options->grid.k, "LIST", "values of k").Default("20 values");
  line.Value("--grid-sigma", &options->grid.sigma, "LIST", "values of sigma")
      .Default("20 values around the distances found");
  line.Value("--grid-temperature", &options->grid.temperature, "LIST", "values of T")
      .Default("20 values; a frozen memory's own");
}

}  // namespace resmem::cli
