// Single tokens that a memory fixed and others that it harmed, chosen by a rule.
#ifndef RESMEM_CLI_OUTPUTS_TOKENS_TOKEN_EXAMPLES_H_
#define RESMEM_CLI_OUTPUTS_TOKENS_TOKEN_EXAMPLES_H_

#include <string>
#include <vector>

#include "console/console.h"
#include "inputs/text/token_options.h"
#include "outputs/tokens/token_text.h"
#include "resmem/predictor.h"

namespace resmem::cli {

struct TokenExample {
  bool fixed = true;
  std::string title, context;               // of the document; what stands before the token
  std::string truth, base, resmem;          // the next token: true, and as each would have it
  double base_score = 0, resmem_score = 0;  // of the true one
  std::vector<TokenNeighbor> neighbors;     // the nearest
};

struct TokenExampleOptions {
  PredictOptions answer;  // whose
  int64_t count = 6;      // of each kind
  int64_t neighbors = 3;  // shown; all of them count
};

// "of the tokens that ..., those whose ...": for people.
std::string TokenExampleRule(const TokenExampleOptions& options);

// First those that were fixed, then those that were harmed, each kind in the rule's order.
Result<std::vector<TokenExample>> ChooseTokenExamples(
    const Predictor& predictor, const TokenRows& rows, const Tokenizer& tokenizer,
    const MemorizedText& memorized, const TokenExampleOptions& options, Console& console);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_TOKENS_TOKEN_EXAMPLES_H_
