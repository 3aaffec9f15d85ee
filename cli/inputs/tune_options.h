// How a memory's answer is fitted.
#ifndef RESMEM_CLI_INPUTS_TUNE_OPTIONS_H_
#define RESMEM_CLI_INPUTS_TUNE_OPTIONS_H_

#include <string>

#include "console/command_line.h"
#include "resmem/tuner.h"

namespace resmem::cli {

// --objective, --fpr-limit, --folds, --seed and the grid, the same words everywhere.
void DeclareTuning(CommandLine& line, TuneOptions* options);
// What became of the memory.
std::string TuningNote(const Tuning& tuning, bool dry_run, const std::string& memory_path);
// --key-transform; all are tried unless the user says otherwise.
void DeclareKeyTransform(CommandLine& line, TuneOptions* options);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_TUNE_OPTIONS_H_
