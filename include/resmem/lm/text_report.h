// JSON documents about text, as report.h writes the others: docs/json.md explains every field.
#ifndef RESMEM_LM_TEXT_REPORT_H_
#define RESMEM_LM_TEXT_REPORT_H_

#include <string>

#include "resmem/lm/encode_text.h"
#include "resmem/lm/token_set.h"
#include "resmem/lm/tokenizer.h"
#include "resmem/report/report.h"

namespace resmem {

// "resmem.tokenizer.v1"
std::string TokenizerJson(const std::string& path, const Tokenizer& tokenizer, const RunInfo& run);

// "resmem.tokens.v1"; `unknown_tokens` is counted while encoding.
std::string TokenSetJson(const TokenSet& set, int64_t unknown_tokens, const RunInfo& run);

}  // namespace resmem

#endif  // RESMEM_LM_TEXT_REPORT_H_
