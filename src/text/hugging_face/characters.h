// What Unicode says of characters, by utf8proc (docs/decisions/unicode.md).
#ifndef RESMEM_TEXT_HUGGING_FACE_CHARACTERS_H_
#define RESMEM_TEXT_HUGGING_FACE_CHARACTERS_H_

#include <string>
#include <string_view>

namespace resmem {

// Takes the first character off `text`, which is valid UTF-8 and not empty.
char32_t TakeCharacter(std::string_view* text);
void AddCharacter(char32_t character, std::string* text);
// The same text, with U+FFFD for each byte that is not UTF-8.
std::string ValidUtf8(std::string_view text);

bool IsWhiteSpace(char32_t character);   // Unicode's property of this name
bool IsPunctuation(char32_t character);  // categories P, and all of ASCII that is printed otherwise
bool IsNumeric(char32_t character);      // categories N
bool IsMark(char32_t character);         // categories M
bool IsNonSpacingMark(char32_t character);
bool IsControl(char32_t character);  // Cc, Cf, Co, Cs
bool IsWordCharacter(char32_t character);
bool IsIdeograph(char32_t character);  // as BERT has it: of CJK, not Hangul or Kana

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
std::string Normalized(std::string_view text, NormalForm form);
// Character by character, so that a sigma at the end of a word is as any other.
std::string Lowercase(std::string_view text);
// Bytes of the first grapheme cluster of `text` (not empty).
size_t GraphemeLength(std::string_view text);

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_CHARACTERS_H_
