// What every `resmem reproduce ...` has in common: which steps, in which folder, on which page.
#ifndef RESMEM_LAB_REPRODUCE_RUN_STEPS_H_
#define RESMEM_LAB_REPRODUCE_RUN_STEPS_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "console/command_line.h"
#include "console/console.h"
#include "console/exit_code.h"
#include "reproduce/page/page.h"
#include "reproduce/step.h"

namespace resmem::cli::reproduce {

struct StepOptions {
  // --list, --steps, --redo.
  void Declare(CommandLine& line);

  std::vector<std::string> steps, redo;
  bool list = false;
};

struct Reproduction {
  std::string name;         // of the page: docs/results/NAME.md
  std::string work;         // the folder; records are in its steps/
  std::string output;       // the folder of docs/results
  std::string data;         // digest of what is experimented on
  bool quick = false;       // a rehearsal
  double disk_bytes = 0;    // that the work folder takes in the end, about; 0: little
  std::vector<Step> steps;  // each after those that it needs
  // Of a step without a record: how far it is ("after epoch 3"); empty: nowhere.
  std::function<std::string(const Step&)> how_far;
  std::function<void(Page*)> write_page;
  // Further pages of the same steps, by name.
  std::vector<std::pair<std::string, std::function<void(Page*)>>> more_pages{};
};

// Runs those that are selected and not finished, and writes the pages after each; or lists them.
// What stands on the pages from elsewhere stays.
Result<ExitCode> RunSteps(const Reproduction& reproduction, const StepOptions& options,
                          Console& console);

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_LAB_REPRODUCE_RUN_STEPS_H_
