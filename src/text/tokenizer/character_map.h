// SentencePiece's map of characters: a double array of byte sequences as Darts-clone writes it, and
// the texts that replace them.
#ifndef RESMEM_TEXT_TOKENIZER_CHARACTER_MAP_H_
#define RESMEM_TEXT_TOKENIZER_CHARACTER_MAP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resmem/status.h"

namespace resmem {

class CharacterMap {
 public:
  CharacterMap() = default;  // empty
  // kBadData, without a name in front, where the bytes are cut short.
  static Result<CharacterMap> Make(std::string_view bytes);

  // What the longest known front of `text` becomes, and its bytes; 0 bytes where none is known.
  std::pair<std::string_view, size_t> LongestPrefix(std::string_view text) const;
  std::pair<std::string_view, size_t> ShortestPrefix(std::string_view text) const;

 private:
  std::pair<std::string_view, size_t> Prefix(std::string_view text, bool longest) const;

  // The links come from a file and are checked when they are followed.
  std::vector<uint32_t> units_;
  std::string replacements_;  // each ends with a NUL
};

}  // namespace resmem

#endif  // RESMEM_TEXT_TOKENIZER_CHARACTER_MAP_H_
