// The commands of `resmem`, and those that `resmem-lab` and `resmem-serve` answer for.
#ifndef RESMEM_CLI_COMMANDS_COMMANDS_H_
#define RESMEM_CLI_COMMANDS_COMMANDS_H_

#include <span>

#include "console/command.h"
#include "process/sibling.h"

namespace resmem::cli {

// Both in the order of the overview.
std::span<const CommandEntry> Commands();
std::span<const SiblingCommand> SiblingCommands();

}  // namespace resmem::cli

#endif  // RESMEM_CLI_COMMANDS_COMMANDS_H_
