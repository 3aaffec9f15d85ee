// What the shell learns from a run.  docs/errors.md is this table for people; a test compares.
#ifndef RESMEM_CLI_CONSOLE_EXIT_CODE_H_
#define RESMEM_CLI_CONSOLE_EXIT_CODE_H_

#include "resmem/status.h"

namespace resmem::cli {

enum class ExitCode {
  kOk = 0,
  kFailure = 1,         // the system refused: a file could not be read or written
  kUsage = 2,           // the command line is wrong
  kBadInput = 3,        // arrays or memories that are missing, wrong, corrupt or of another model
  kOutOfResources = 4,  // no memory, no space, or another process holds the memory
  kCheckFailed = 5,     // the work is done and its answer is no: eval --fail-if-worse
  kBug = 70,            // a bug in resmem; the number of sysexits.h (EX_SOFTWARE)
  kInterrupted = 130,   // 128 + the signal: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP, 141 reader left
};

ExitCode ExitCodeOf(ErrorCode code);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_EXIT_CODE_H_
