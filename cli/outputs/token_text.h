// Predictions of a next token, in lines for people.
#ifndef RESMEM_CLI_OUTPUTS_TOKEN_TEXT_H_
#define RESMEM_CLI_OUTPUTS_TOKEN_TEXT_H_

#include <span>
#include <string>

#include "inputs/text/token_options.h"
#include "resmem/predictor.h"

namespace resmem::cli {

// As a piece; an id that the tokenizer lacks by number.
std::string PieceText(const Tokenizer& tokenizer, int64_t id);

// "the 41.2 %, a 9.9 %, ...": the `count` best.
std::string BestTokens(const Tokenizer& tokenizer, std::span<const float> scores, int count);

// Base, ResMem, and the neighbors with their contexts and what each adds to ResMem's answer.
Result<std::string> TokenExplanation(const Explanation& explanation, const Tokenizer& tokenizer,
                                     const MemorizedText& text, int64_t neighbors);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_TOKEN_TEXT_H_
