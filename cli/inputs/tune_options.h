// How k, sigma and T are chosen.
#ifndef RESMEM_CLI_INPUTS_TUNE_OPTIONS_H_
#define RESMEM_CLI_INPUTS_TUNE_OPTIONS_H_

#include "console/command_line.h"
#include "resmem/tuner.h"

namespace resmem::cli {

// --objective, --fpr-limit, --folds, --seed and the grid, the same words everywhere.
void DeclareTuning(CommandLine& line, TuneOptions* options);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_TUNE_OPTIONS_H_
