// Programs of others, found where nobody but root and the user can have put them.
#ifndef RESMEM_CLI_PROCESS_PROGRAM_SEARCH_H_
#define RESMEM_CLI_PROCESS_PROGRAM_SEARCH_H_

#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem::cli {

// Running a program is trusting whoever could have written it.  Of the folders of `path`, as the
// variable PATH lists them, those that root or this user owns and that are closed to others, with
// all folders above them.
std::string TrustedPath(const std::string& path);

// The whole path of the program `name` in the first trusted folder of PATH that has it, if the file
// is trusted, too.  kNotFound; kUnsupported, naming the reason, where it lies in others' only.
Result<std::string> FindProgram(const std::string& name);

// This process's environment for such a program, which itself starts others: PATH is the trusted
// part of ours.  "NAME=value".
std::vector<std::string> TrustedEnvironment();

}  // namespace resmem::cli

#endif  // RESMEM_CLI_PROCESS_PROGRAM_SEARCH_H_
