// Encodes documents as a token set; the file does not depend on the number of threads.
#ifndef RESMEM_LM_ENCODE_TEXT_H_
#define RESMEM_LM_ENCODE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "resmem/lm/text_counts.h"
#include "resmem/lm/text_source.h"
#include "resmem/lm/tokenizer.h"
#include "resmem/progress.h"
#include "resmem/status.h"

namespace resmem {

struct EncodeOptions {
  int threads = 0;  // 0: all processors
  Progress* progress = nullptr;
  std::optional<int32_t> end_id{};  // of each document; none: the tokenizer's own
};

struct EncodedText {
  TextCounts text;
  int64_t documents = 0;
  int64_t tokens = 0;          // with the ids that end documents
  int64_t unknown_tokens = 0;  // characters that no piece holds
};

// Writes all that is left of `source` to `path` (token_set.h).  A document in which the tokenizer
// finds nothing counts as empty.  Errors: kUnsupported (no token ends a document), kBadData (no
// document), kCancelled, and those of the source and of writing; then `path` is unchanged.
Result<EncodedText> EncodeText(TextSource* source, const Tokenizer& tokenizer,
                               const std::string& path, const EncodeOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_LM_ENCODE_TEXT_H_
