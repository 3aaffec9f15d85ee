#include "protocol/json_text.h"

#include <charconv>
#include <cmath>

namespace resmem::serve {
namespace {

template <class T>
void AppendShortest(T value, std::string* json) {
  if (!std::isfinite(value)) {
    *json += "null";
    return;
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  json->append(digits, end);
}

// Bytes of the UTF-8 sequence that begins here; 0 where it is not sound.
size_t SoundSequence(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

}  // namespace

void AppendText(std::string_view text, std::string* json) {
  constexpr char kDigits[] = "0123456789abcdef";
  *json += '"';
  while (!text.empty()) {
    const size_t length = SoundSequence(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      *json += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      *json += '\\';
      *json += static_cast<char>(c);
    } else if (c < 0x20 || c == 0x7F) {
      *json += "\\u00";
      *json += kDigits[c >> 4];
      *json += kDigits[c & 15];
    } else {
      json->append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  *json += '"';
}

void AppendNumber(float value, std::string* json) {
  AppendShortest(value, json);
}
void AppendNumber(double value, std::string* json) {
  AppendShortest(value, json);
}

void JsonText::Name(std::string_view name) {
  if (!text_.empty()) text_ += ',';
  AppendText(name, &text_);
  text_ += ':';
}

JsonText& JsonText::Add(std::string_view name, std::string_view text) {
  Name(name);
  AppendText(text, &text_);
  return *this;
}
JsonText& JsonText::Add(std::string_view name, bool value) {
  return AddJson(name, value ? "true" : "false");
}
JsonText& JsonText::Add(std::string_view name, double value) {
  Name(name);
  AppendNumber(value, &text_);
  return *this;
}
JsonText& JsonText::Add(std::string_view name, float value) {
  Name(name);
  AppendNumber(value, &text_);
  return *this;
}
JsonText& JsonText::AddJson(std::string_view name, std::string_view json) {
  Name(name);
  text_ += json;
  return *this;
}

std::string JsonList(std::span<const std::string> parts) {
  std::string list = "[";
  for (const std::string& part : parts) {
    if (list.size() > 1) list += ',';
    list += part;
  }
  return list + "]";
}

std::string ErrorJson(std::string_view words) {
  return JsonText().Add("error", words).Object() + "\n";
}

}  // namespace resmem::serve
