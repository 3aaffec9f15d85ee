// An evaluation of tokens as a table for people.
#ifndef RESMEM_CLI_OUTPUTS_TOKENS_TOKEN_EVALUATION_TEXT_H_
#define RESMEM_CLI_OUTPUTS_TOKENS_TOKEN_EVALUATION_TEXT_H_

#include <string>

#include "resmem/evaluation.h"

namespace resmem::cli {

std::string TokenEvaluationText(const Evaluation& evaluation);

// Adds the warning on intervals that draw from too few documents.
void WarnOfFewDocuments(Evaluation* evaluation);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_TOKENS_TOKEN_EVALUATION_TEXT_H_
