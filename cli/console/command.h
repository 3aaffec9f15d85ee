// A command of `resmem`: one class in one file, and one line in its program's commands.cc.
//
//   class Info : public Command {
//     void Declare(CommandLine& line) override;              // what it accepts
//     Result<ExitCode> Run(Console& console) override;       // what it does
//   };
//   std::unique_ptr<Command> MakeInfo() { return std::make_unique<Info>(); }
//
// docs/cli.md is made from the help: after any change run tests/cli/help_page.py PROGRAM.
//
// Conventions: results go to standard output through Output, words to the console; every
// error is a Status, whose code gives the exit code; --quiet and --help are added by main().
// Long work takes console.progress(), or asks CheckInterrupt() between blocks.
#ifndef RESMEM_CLI_CONSOLE_COMMAND_H_
#define RESMEM_CLI_CONSOLE_COMMAND_H_

#include <memory>

#include "console/command_line.h"
#include "console/console.h"
#include "console/exit_code.h"

namespace resmem::cli {

class Command {
 public:
  virtual ~Command() = default;
  virtual void Declare(CommandLine& line) = 0;
  // Called after the line was parsed into what Declare() named.
  virtual Result<ExitCode> Run(Console& console) = 0;
};

struct CommandEntry {
  const char* group;  // heading of the overview
  const char* name;   // "info"; two words for a command of a family: "base train"
  std::unique_ptr<Command> (*make)();
};

// What `command` accepts, with the options that every command has.
struct Declared {
  std::unique_ptr<Command> command;
  CommandLine line;
  std::unique_ptr<bool> quiet;
};
Declared Declare(const CommandEntry& entry);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_COMMAND_H_
