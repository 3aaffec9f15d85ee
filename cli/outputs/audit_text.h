// What resmem audit found, for people and as CSV.
#ifndef RESMEM_CLI_OUTPUTS_AUDIT_TEXT_H_
#define RESMEM_CLI_OUTPUTS_AUDIT_TEXT_H_

#include <string>

#include "resmem/audit.h"

namespace resmem::cli {

// The first `shown` of each list.  `harm`: null where no rows were held out for it.
std::string AuditText(const ResidualMemory& memory, const Audit& audit, const HarmReport* harm,
                      int64_t shown);

// A line for each row listed, with a header.
std::string AuditCsv(const ResidualMemory& memory, const Audit& audit, const HarmReport* harm);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_AUDIT_TEXT_H_
