// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#ifndef RESMEM_TEXT_UTF8_H_
#define RESMEM_TEXT_UTF8_H_

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace resmem {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// Bytes of the character that `text` (not empty) begins with; 0 where it begins with none.
inline size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto trails = [&](size_t count) {
    if (text.size() <= count) return false;
    for (size_t i = 1; i <= count; ++i) {
      if ((byte(i) & 0xC0) != 0x80) return false;
    }
    return true;
  };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return trails(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!trails(2) || (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) {
      return 0;
    }
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!trails(3) || (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) {
      return 0;
    }
    return 4;
  }
  return 0;
}

// By the first byte alone, within `text` (not empty).
inline size_t Utf8LengthBySight(std::string_view text) {
  constexpr uint8_t kLengths[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
  return std::min<size_t>(kLengths[static_cast<uint8_t>(text[0]) >> 4], text.size());
}

}  // namespace resmem

#endif  // RESMEM_TEXT_UTF8_H_
