// What the steps that judge text share.
#ifndef RESMEM_LAB_REPRODUCE_LM_JUDGE_H_
#define RESMEM_LAB_REPRODUCE_LM_JUDGE_H_

#include <string>
#include <vector>

#include "reproduce/lm/token_evaluation.h"
#include "reproduce/lm/workspace.h"

namespace resmem::cli::reproduce::lm {

struct NamedParameters {
  std::string name;
  Parameters parameters;
};
// "paper" and, where tuning has chosen to use the memory at all, "tuned".
std::vector<NamedParameters> ParametersOf(const Json& tune);

struct JudgedTokens {
  std::vector<TokenEvaluation> evaluations;                   // of each of the parameters
  double seconds = 0, search_seconds = 0, score_seconds = 0;  // the rest is the language model's
};
// From one neighbor pass at the largest k, as the memory was opened.
Result<JudgedTokens> JudgeTokens(const Workspace& workspace, const ResidualMemory& memory,
                                 const TokenRows& rows,
                                 const std::vector<NamedParameters>& parameters);

// parameters, rows, documents, methods (accuracy, gain, perplexity) and by_document: tokens, right
// by the base, right by ResMem.  Every interval is by documents.
Json ToJson(const TokenEvaluation& evaluation);
// Of the accuracies: value, low, high.
Json DifferenceJson(const TokenEvaluation& evaluation, const TokenMethodResult& method,
                    const TokenMethodResult& other);
const TokenMethodResult* MixtureAt(const TokenEvaluation& evaluation, double lambda);
// The first of this name in the JSON; null: none.
const Json& MethodAt(const Json& evaluation, const std::string& name);
// Seconds by part, and tokens a second.
Json CostJson(const JudgedTokens& judged);

}  // namespace resmem::cli::reproduce::lm

#endif  // RESMEM_LAB_REPRODUCE_LM_JUDGE_H_
