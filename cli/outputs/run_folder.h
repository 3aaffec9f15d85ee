// The folder of a training run, as resmem train and resmem lm train begin and end with it.
#ifndef RESMEM_CLI_OUTPUTS_RUN_FOLDER_H_
#define RESMEM_CLI_OUTPUTS_RUN_FOLDER_H_

#include <string>

#include "resmem/status.h"

namespace resmem::cli {

// `difference`: the first option that the run there was begun with and this one was not.
Status HoldsAnotherRun(const std::string& folder, const std::string& difference);
Status MakeRunFolder(const std::string& folder);
// The models that the run has left, and its log.
Status PrintRunFolder(const std::string& folder);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_RUN_FOLDER_H_
