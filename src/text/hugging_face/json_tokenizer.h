// tokenizer.json of Hugging Face, and GPT-2's vocab.json with merges.txt, as a tokenizer.
#ifndef RESMEM_TEXT_HUGGING_FACE_JSON_TOKENIZER_H_
#define RESMEM_TEXT_HUGGING_FACE_JSON_TOKENIZER_H_

#include <memory>
#include <string>
#include <string_view>

#include "support/json.h"
#include "text/tokenizer/text_coder.h"

namespace resmem {

struct JsonTokenizerFile {
  Json json;
  // An object of texts and ids and nothing else.
  bool is_vocabulary() const;
};
// kBadData where it is not JSON, or too much of it.
Result<JsonTokenizerFile> ReadJsonTokenizerFile(const std::string& name, std::string_view text);

// `merges`: the text of merges.txt, of a vocabulary; empty otherwise.
// Errors: kBadData, kUnsupported (a part that is not known, by its name).
Result<std::unique_ptr<const TextCoder>> MakeJsonTokenizer(const std::string& name,
                                                           const JsonTokenizerFile& file,
                                                           std::string_view merges);

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_JSON_TOKENIZER_H_
