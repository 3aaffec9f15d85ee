// The program `resmem`.
#include "commands/commands.h"
#include "console/program.h"

int main(int argc, char** argv) {
  using namespace resmem::cli;
  return RunProgram({.name = "resmem",
                     .summary = "a residual memory for any prediction model",
                     .commands = Commands(),
                     .siblings = SiblingCommands(),
                     .first_steps = " The first three steps:\n"
                                    "  resmem memorize --data train.npz -o my.resmem\n"
                                    "  resmem tune my.resmem --data validation.npz\n"
                                    "  resmem eval my.resmem --data test.npz\n"},
                    argc, argv);
}
