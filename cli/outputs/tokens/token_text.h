// Predictions of a next token, in lines for people.
#ifndef RESMEM_CLI_OUTPUTS_TOKENS_TOKEN_TEXT_H_
#define RESMEM_CLI_OUTPUTS_TOKENS_TOKEN_TEXT_H_

#include <span>
#include <string>
#include <vector>

#include "inputs/text/token_options.h"
#include "resmem/predictor.h"

namespace resmem::cli {

// As a piece; an id that the tokenizer lacks by number.
std::string PieceText(const Tokenizer& tokenizer, int64_t id);

// "the 41.2 %, a 9.9 %, ...": the `count` best.
std::string BestTokens(const Tokenizer& tokenizer, std::span<const float> scores, int count);

// A row of the memory, with the words of its text: print them by Printable().
struct TokenNeighbor {
  double distance = 0, weight = 0;
  double contribution = 0;           // to the predicted token's score
  std::string context, next, title;  // before the row's token, that token, and its document
};

// The nearest `count`, each with up to `tokens` tokens of context.  A row that is not of the
// memorized text is shown as such.
Result<std::vector<TokenNeighbor>> NearestRows(const Explanation& explanation,
                                               const Tokenizer& tokenizer,
                                               const MemorizedText& text, int64_t count,
                                               int64_t tokens);

// Base, ResMem, and the neighbors with their contexts and what each adds to ResMem's answer.
Result<std::string> TokenExplanation(const Explanation& explanation, const Tokenizer& tokenizer,
                                     const MemorizedText& text, int64_t neighbors);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_TOKENS_TOKEN_TEXT_H_
