// The ledger of one prediction as a table.
#ifndef RESMEM_CLI_OUTPUTS_EXPLANATION_TEXT_H_
#define RESMEM_CLI_OUTPUTS_EXPLANATION_TEXT_H_

#include <string>

#include "resmem/predictor.h"

namespace resmem::cli {

// How far the query lies from the memory.  Requires explanation.distance.
std::string DistanceText(const Explanation& explanation);

// At most `lines` neighbors by name; the rest as one line, so that the columns still add up.
std::string ExplanationText(const Explanation& explanation, const MemoryDescription& memory,
                            int64_t lines);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_EXPLANATION_TEXT_H_
