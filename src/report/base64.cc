#include "report/base64.h"

namespace resmem {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string EncodeBase64(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t present = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (j < present ? bytes[i + j] : 0u);
    for (size_t j = 0; j < 4; ++j) {
      text += j <= present ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

std::optional<std::vector<uint8_t>> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const size_t present = last ? 4 - padding : 4;
    uint32_t group = 0;
    for (size_t j = 0; j < 4; ++j) {
      const size_t value = j < present ? kAlphabet.find(text[i + j]) : 0;
      if (value == std::string_view::npos) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (size_t j = 0; j + 1 < present; ++j) {
      bytes.push_back(static_cast<uint8_t>(group >> (16 - 8 * j)));
    }
  }
  return bytes;
}

}  // namespace resmem
