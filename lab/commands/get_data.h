// The script that fetches public data sets, beside this program.
#ifndef RESMEM_LAB_COMMANDS_GET_DATA_H_
#define RESMEM_LAB_COMMANDS_GET_DATA_H_

#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem::cli {

// What it prints; its last line as the error where it fails.
Result<std::string> RunGetData(const std::vector<std::string>& words);

}  // namespace resmem::cli

#endif  // RESMEM_LAB_COMMANDS_GET_DATA_H_
