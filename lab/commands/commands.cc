// The commands of `resmem-lab`.  A new one also gets a line in cli/commands/commands.cc, so that
// `resmem NAME` finds it.
#include "console/program.h"

// group, name, function that makes it
#define RESMEM_COMMANDS(ADD)                                        \
  ADD("Base models", "train", MakeTrain)                            \
  ADD("A base of our own", "base train", MakeBaseTrain)             \
  ADD("A base of our own", "base run", MakeBaseRun)                 \
  ADD("Language models", "lm train", MakeLmTrain)                   \
  ADD("Data to try", "data list", MakeDataList)                     \
  ADD("Data to try", "data get", MakeDataGet)                       \
  ADD("Understand it", "theory", MakeTheory)                        \
  ADD("Understand it", "reproduce cifar100", MakeReproduceCifar100) \
  ADD("Understand it", "reproduce imagenet", MakeReproduceImageNet) \
  ADD("Understand it", "reproduce lm", MakeReproduceLm)

namespace resmem::cli {

#define RESMEM_DECLARE(group, name, make) std::unique_ptr<Command> make();
RESMEM_COMMANDS(RESMEM_DECLARE)
#undef RESMEM_DECLARE

}  // namespace resmem::cli

int main(int argc, char** argv) {
  using namespace resmem::cli;
#define RESMEM_ENTRY(group, name, make) {group, name, make},
  static constexpr CommandEntry kCommands[] = {RESMEM_COMMANDS(RESMEM_ENTRY)};
#undef RESMEM_ENTRY
  return RunProgram(
      {.name = "resmem-lab",
       .summary = "resmem's laboratory: training, the paper's experiments, its theory",
       .commands = kCommands,
       .first_steps = "\n"},
      argc, argv);
}
