// A SentencePiece model file as a tokenizer.
#ifndef RESMEM_TEXT_TOKENIZER_SENTENCE_PIECE_H_
#define RESMEM_TEXT_TOKENIZER_SENTENCE_PIECE_H_

#include <memory>
#include <string>
#include <string_view>

#include "text/tokenizer/text_coder.h"

namespace resmem {

// Errors: kBadData, kUnsupported.
Result<std::unique_ptr<const TextCoder>> ReadSentencePiece(const std::string& name,
                                                           std::string_view bytes);

}  // namespace resmem

#endif  // RESMEM_TEXT_TOKENIZER_SENTENCE_PIECE_H_
