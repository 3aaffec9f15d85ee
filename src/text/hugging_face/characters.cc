#include "text/hugging_face/characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "text/utf8.h"

namespace resmem {
namespace {

utf8proc_category_t Category(char32_t character) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

struct Free {
  void operator()(utf8proc_uint8_t* text) const { std::free(text); }
};

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

char32_t TakeCharacter(std::string_view* text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>((*text)[i]); };
  const unsigned char first = byte(0);
  const size_t length = Utf8LengthBySight(*text);
  char32_t character = first;
  if (length > 1) character = first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) character = (character << 6) | (byte(i) & 0x3Fu);
  text->remove_prefix(length);
  return character;
}

void AddCharacter(char32_t character, std::string* text) {
  utf8proc_uint8_t bytes[4];
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes);
  text->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    valid += length == 0 ? kReplacementCharacter : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return valid;
}

bool IsWhiteSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool IsPunctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
           (c >= 123 && c <= 126);
  }
  const utf8proc_category_t category = Category(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool IsNumeric(char32_t c) {
  const utf8proc_category_t category = Category(c);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool IsMark(char32_t c) {
  const utf8proc_category_t category = Category(c);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool IsNonSpacingMark(char32_t c) {
  return Category(c) == UTF8PROC_CATEGORY_MN;
}

bool IsControl(char32_t c) {
  const utf8proc_category_t category = Category(c);
  return category >= UTF8PROC_CATEGORY_CC && category <= UTF8PROC_CATEGORY_CO;
}

bool IsWordCharacter(char32_t c) {
  const utf8proc_category_t category = Category(c);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ND) ||
         category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_PC;
}

bool IsIdeograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

std::string Normalized(std::string_view text, NormalForm form) {
  if (IsAscii(text)) return std::string(text);
  int options = UTF8PROC_STABLE;
  options |=
      form == NormalForm::kNfc || form == NormalForm::kNfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::kNfkc || form == NormalForm::kNfkd) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &made,
                                             static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, Free> owner(made);
  // The text is valid UTF-8, so what remains is memory.
  if (size < 0) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(made), static_cast<size_t>(size)};
}

std::string Lowercase(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  constexpr char32_t kCapitalIWithDot = 0x130;
  while (!text.empty()) {
    const char32_t character = TakeCharacter(&text);
    if (character == kCapitalIWithDot) {
      lower += "i\xCC\x87";
    } else {
      AddCharacter(
          static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character))),
          &lower);
    }
  }
  return lower;
}

size_t GraphemeLength(std::string_view text) {
  std::string_view rest = text;
  utf8proc_int32_t state = 0;
  char32_t before = TakeCharacter(&rest);
  while (!rest.empty()) {
    std::string_view after = rest;
    const char32_t next = TakeCharacter(&after);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                         static_cast<utf8proc_int32_t>(next), &state)) {
      break;
    }
    before = next;
    rest = after;
  }
  return text.size() - rest.size();
}

}  // namespace resmem
