// A tokenizer in lines for people.
#ifndef RESMEM_CLI_OUTPUTS_TOKENS_TOKENIZER_TEXT_H_
#define RESMEM_CLI_OUTPUTS_TOKENS_TOKENIZER_TEXT_H_

#include <string>

#include "resmem/lm/tokenizer.h"

namespace resmem::cli {

// `sample`: a text to be split, or empty.
Result<std::string> TokenizerText(const std::string& path, const Tokenizer& tokenizer,
                                  const std::string& sample);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_TOKENS_TOKENIZER_TEXT_H_
