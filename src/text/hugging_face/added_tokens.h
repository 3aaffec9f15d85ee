// "added_tokens" of a tokenizer.json: texts that are one piece wherever they stand.
#ifndef RESMEM_TEXT_HUGGING_FACE_ADDED_TOKENS_H_
#define RESMEM_TEXT_HUGGING_FACE_ADDED_TOKENS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/json.h"
#include "text/hugging_face/text_rules.h"
#include "text/tokenizer/piece_trie.h"

namespace resmem {

struct AddedToken {
  int32_t id = 0;
  std::string text;
  bool single_word = false;                        // not inside a word
  bool strips_left = false, strips_right = false;  // takes the blanks beside it
  bool normalized = false;  // looked for after the normalizer, and as it makes it
  bool special = false;     // has no text: <s>
};

// Immutable: const methods may be called from any number of threads.
class AddedTokens {
 public:
  // Null: none.  Errors: kBadData.
  static Result<AddedTokens> Read(const Json* json, const TextRules& rules);

  const std::vector<AddedToken>& tokens() const { return tokens_; }

  // In turn the texts between, which may be empty, and the tokens found; `normalized`: which kind.
  using UseText = std::function<Status(std::string_view text, bool at_front)>;
  using UseToken = std::function<void(int32_t id)>;
  Status Split(std::string_view text, bool normalized, const UseText& use_text,
               const UseToken& use_token) const;

 private:
  std::vector<AddedToken> tokens_;
  std::optional<PieceTrie> plain_, normalized_;  // of numbers in tokens_
};

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_ADDED_TOKENS_H_
