// What resmem privacy measured, for people.
#ifndef RESMEM_CLI_OUTPUTS_PRIVACY_TEXT_H_
#define RESMEM_CLI_OUTPUTS_PRIVACY_TEXT_H_

#include <string>

#include "resmem/privacy.h"

namespace resmem::cli {

// `rows`: of the memory.
std::string PrivacyText(const PrivacyReport& report, int64_t rows);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_PRIVACY_TEXT_H_
