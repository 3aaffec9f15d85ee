// Which key transform a tuning chose, against which others.
#ifndef RESMEM_CLI_OUTPUTS_KEY_TUNING_TEXT_H_
#define RESMEM_CLI_OUTPUTS_KEY_TUNING_TEXT_H_

#include "console/format.h"
#include "resmem/tuner.h"

namespace resmem::cli {

// No line where there was nothing to choose.
void AddKeys(const Tuning& tuning, Table* table);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_KEY_TUNING_TEXT_H_
