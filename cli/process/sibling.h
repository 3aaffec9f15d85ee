// Programs that are installed beside `resmem` and answer for some of its commands, as git does it.
#ifndef RESMEM_CLI_PROCESS_SIBLING_H_
#define RESMEM_CLI_PROCESS_SIBLING_H_

#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem::cli {

// A command that another program answers for.
struct SiblingCommand {
  const char* group;    // heading of the overview
  const char* name;     // "theory"; two words for a command of a family: "lm train"
  const char* summary;  // as that program's own help has it
  const char* program;  // "resmem-lab"
  const char* option = "RESMEM_BUILD_LAB";  // of CMake, that builds it
};

// Where the program lies: beside this one, or in ../libexec/resmem; "" where it does not.
std::string FindSibling(const std::string& program);

// Becomes that program, with the same words.  Returns only where that fails.
Status BecomeSibling(const SiblingCommand& sibling, const std::vector<std::string>& words);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_PROCESS_SIBLING_H_
