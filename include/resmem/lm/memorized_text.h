// The text that a memory of tokens was made of: where a neighbor stands.
#ifndef RESMEM_LM_MEMORIZED_TEXT_H_
#define RESMEM_LM_MEMORIZED_TEXT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "resmem/lm/token_set.h"
#include "resmem/lm/tokenizer.h"
#include "resmem/residual_memory.h"
#include "resmem/status.h"

namespace resmem {

// kMismatch where another tokenizer made the tokens of the memory.
Status CheckTokenizer(const std::string& path, const Tokenizer& tokenizer,
                      const ResidualMemory& memory);

// Movable, immutable: const methods may be called from any number of threads.
class MemorizedText {
 public:
  // The token set that the memory's notes name, or `path` in its place; both must be the one that
  // was memorized (kMismatch).  `option`: what a person names it with, for messages.
  static Result<MemorizedText> Open(const std::string& path, const char* option,
                                    const ResidualMemory& memory);
  const TokenSet& set() const { return set_; }

  struct Place {
    std::string context;  // the last tokens up to that of the row, decoded
    std::string title;    // of its document
  };
  // Of the memory's row of this id and label.  A row that was appended later is not of this text:
  // then the title says so.
  Result<Place> Find(const Tokenizer& tokenizer, uint64_t id, int32_t label, int64_t tokens) const;

 private:
  explicit MemorizedText(TokenSet set) : set_(std::move(set)) {}
  // Rows have the numbers of tokens without the last one of each document.  Requires one of these.
  int64_t DocumentOf(int64_t row) const;
  TokenSet set_;
};

}  // namespace resmem

#endif  // RESMEM_LM_MEMORIZED_TEXT_H_
