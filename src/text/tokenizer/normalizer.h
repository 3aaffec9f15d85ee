// The form of text that pieces are found in: characters replaced by a map of longest prefixes
// (NFKC and the like), blanks joined and shown as U+2581.
#ifndef RESMEM_TEXT_TOKENIZER_NORMALIZER_H_
#define RESMEM_TEXT_TOKENIZER_NORMALIZER_H_

#include <string>
#include <string_view>
#include <utility>

#include "resmem/status.h"
#include "text/tokenizer/character_map.h"
#include "text/tokenizer/model_file.h"
#include "text/tokenizer/piece_trie.h"

namespace resmem {

inline constexpr std::string_view kBlankSymbol = "\xE2\x96\x81";

class Normalizer {
 public:
  // `user_defined` pieces are never changed; it outlives this.  kBadData where the character map
  // is cut short.
  static Result<Normalizer> Make(const std::string& name, const NormalizerRules& rules,
                                 const PieceTrie* user_defined);

  // The result has at most kMostGrowth bytes for each of `text`, and kSpareBytes: kBadData where a
  // character map wants more, as only a forged one does.
  static constexpr size_t kMostGrowth = 16;  // NFKC's largest is U+FDFA, 3 bytes to 39
  static constexpr size_t kSpareBytes = 64;
  Result<std::string> Normalize(std::string_view text) const;

 private:
  Normalizer() = default;
  // What the front of `text` (not empty) becomes, and how many bytes it has.
  std::pair<std::string_view, size_t> Front(std::string_view text) const;

  bool add_dummy_prefix_ = true, remove_extra_blanks_ = true;
  std::string_view blank_ = kBlankSymbol;
  CharacterMap map_;
  const PieceTrie* user_defined_ = nullptr;
};

}  // namespace resmem

#endif  // RESMEM_TEXT_TOKENIZER_NORMALIZER_H_
