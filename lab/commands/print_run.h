// What `resmem train` and `resmem lm train` say of the run's folder.
#ifndef RESMEM_LAB_COMMANDS_PRINT_RUN_H_
#define RESMEM_LAB_COMMANDS_PRINT_RUN_H_

#include <string>

#include "resmem/status.h"

namespace resmem::cli {

inline constexpr char kOtherRunAdvice[] = "give another folder, or the same options to continue it";

// The models that the run has left, and its log.
Status PrintRunFolder(const std::string& folder);

}  // namespace resmem::cli

#endif  // RESMEM_LAB_COMMANDS_PRINT_RUN_H_
