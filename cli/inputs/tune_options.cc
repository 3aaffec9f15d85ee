#include "inputs/tune_options.h"

namespace resmem::cli {

void DeclareTuning(CommandLine& line, TuneOptions* options) {
  line.Group("Choice");
  line.Choice<Objective, Objective>(
      "--objective", &options->objective,
      {{"gain", Objective::kGain}, {"tpr-under-fpr", Objective::kTprUnderFpr}},
      "largest gain, or most rows fixed while the share harmed stays below --fpr-limit");
  line.Value("--fpr-limit", &options->fpr_limit, "X",
             "tpr-under-fpr: share of rows that may be harmed, 0 to 1");
  line.Value("--folds", &options->folds, "N",
             "also estimate the gain honestly: each of N parts by the others' choice")
      .Default("off");
  line.Value("--seed", &options->seed, "N", "of the folds");
  line.Group("Grid (values 10,20,50 or a range low:high:count)");
  line.Value("--grid-k", &options->grid.k, "LIST", "neighbors").Default("20 values");
  line.Value("--grid-sigma", &options->grid.sigma, "LIST", "bandwidths")
      .Default("20 values around the distances found");
  line.Value("--grid-temperature", &options->grid.temperature, "LIST", "temperatures")
      .Default("20 values; a frozen memory's own");
}

}  // namespace resmem::cli
