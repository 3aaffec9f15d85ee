// Another program, run to its end.
#ifndef RESMEM_CLI_PROCESS_RUN_PROGRAM_H_
#define RESMEM_CLI_PROCESS_RUN_PROGRAM_H_

#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem::cli {

struct ProgramEnd {
  int exit_code = 0;   // 128 + the signal that ended it
  std::string output;  // what it wrote, results and words together
  std::string LastLine() const;
};

// `words`: the program's whole path, then its arguments.  It gets the trusted part of PATH
// (program_search.h), for what it starts itself.  Ctrl-C is passed on, then kCancelled.
Result<ProgramEnd> RunToEnd(std::vector<std::string> words);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_PROCESS_RUN_PROGRAM_H_
