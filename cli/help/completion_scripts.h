// Shell completion from the same declarations that parse the line.
#ifndef RESMEM_CLI_HELP_COMPLETION_SCRIPTS_H_
#define RESMEM_CLI_HELP_COMPLETION_SCRIPTS_H_

#include <string>
#include <vector>

#include "console/command_line.h"

namespace resmem::cli {

// `shell`: bash, zsh or fish; another gives "".
std::string CompletionScript(const std::string& shell,
                             const std::vector<const CommandLine*>& lines);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_HELP_COMPLETION_SCRIPTS_H_
