// What a tokenizer looks for in text: a fixed text, or a regular expression by PCRE2
// (docs/decisions/unicode.md).
#ifndef RESMEM_TEXT_HUGGING_FACE_PATTERN_H_
#define RESMEM_TEXT_HUGGING_FACE_PATTERN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/status.h"

namespace resmem {

// An expression of a foreign file can take a time that grows with the power of the text.  The work
// on one part of a text has this much time of its thread, which sound expressions need for a
// hundred times as much text.
class WorkLimit {
 public:
  WorkLimit();
  // kBadData where the time is over; looks at the clock now and then only.
  Status Check();

 private:
  double begin_;
  uint32_t calls_ = 0;
};

struct ByteRange {
  size_t begin = 0, end = 0;
};

// Immutable: const methods may be called from any number of threads.
class Pattern {
 public:
  // kBadData where it is empty.
  static Result<Pattern> OfText(const std::string& text);
  // kUnsupported where PCRE2 does not take the expression, which is written as Oniguruma's.
  static Result<Pattern> OfExpression(const std::string& expression);

  // Matches in their order, which do not overlap and may be empty.  `text` is valid UTF-8.
  Result<std::vector<ByteRange>> Find(std::string_view text, WorkLimit* limit) const;

 private:
  Pattern() = default;
  Status FindExpression(std::string_view text, WorkLimit* limit,
                        std::vector<ByteRange>* found) const;
  struct Code;
  std::string text_;  // of a fixed one
  std::shared_ptr<const Code> code_;
};

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_PATTERN_H_
