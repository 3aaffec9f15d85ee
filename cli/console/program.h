// A program of commands: finds the command, parses its line, runs it, and turns its Status into an
// exit code.
#ifndef RESMEM_CLI_CONSOLE_PROGRAM_H_
#define RESMEM_CLI_CONSOLE_PROGRAM_H_

#include <span>

#include "console/command.h"
#include "process/sibling.h"

namespace resmem::cli {

struct Program {
  const char* name;     // "resmem"
  const char* summary;  // "a residual memory for any prediction model"
  std::span<const CommandEntry> commands;
  std::span<const SiblingCommand> siblings{};  // commands that other programs answer for
  const char* first_steps = "";                // the overview's last words
};

int RunProgram(const Program& program, int argc, char** argv);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_PROGRAM_H_
