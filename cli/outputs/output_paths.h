// Files that a command is about to write, against those that it reads.
#ifndef RESMEM_CLI_OUTPUTS_OUTPUT_PATHS_H_
#define RESMEM_CLI_OUTPUTS_OUTPUT_PATHS_H_

#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem::cli {

struct OutputPath {
  std::string option;  // "--scores"
  std::string path;    // empty or "-": no file
};

// kInvalidArgument where a file to be written is one of the inputs, belongs to an input
// folder (a memory, or arrays), or is another output.  Links are followed; devices may repeat.
Status CheckOutputPaths(const std::vector<OutputPath>& outputs,
                        const std::vector<std::string>& inputs);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_OUTPUT_PATHS_H_
