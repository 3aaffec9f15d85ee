#include "text/source/clean_text.h"

#include <algorithm>
#include <string_view>

#include "text/utf8.h"

namespace resmem {
namespace {

// Bytes in front that need no change.
size_t SoundFront(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    if (static_cast<uint8_t>(text[i]) - 1u < 0x7F) {
      ++i;
      continue;
    }
    const size_t length = text[i] == '\0' ? 0 : Utf8Length(text.substr(i));
    if (length == 0) break;
    i += length;
  }
  return i;
}

}  // namespace

std::string CleanText(std::string text, TextCounts* counts) {
  size_t sound = SoundFront(text);
  if (sound == text.size()) return text;
  std::string clean;
  clean.reserve(text.size() + text.size() / 8);
  for (std::string_view rest = text; !rest.empty(); sound = SoundFront(rest)) {
    clean += rest.substr(0, sound);
    rest.remove_prefix(sound);
    if (rest.empty()) break;
    const bool nul = rest.front() == '\0';
    ++(nul ? counts->nul_bytes : counts->bad_bytes);
    clean += nul ? " " : kReplacementCharacter;
    rest.remove_prefix(1);
  }
  return clean;
}

}  // namespace resmem
