#include "text/tokenizer/normalizer.h"

#include <algorithm>
#include <cstring>

#include "support/text.h"
#include "text/utf8.h"

namespace resmem {
namespace {

// A unit of the double array: label in the low byte, then a flag for a leaf, then the offset.
uint32_t OffsetOf(uint32_t unit) {
  return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}
bool HasLeaf(uint32_t unit) {
  return ((unit >> 8) & 1) == 1;
}
uint32_t LabelOf(uint32_t unit) {
  return unit & ((1u << 31) | 0xFF);
}
uint32_t ValueOf(uint32_t unit) {
  return unit & ((1u << 31) - 1);
}

}  // namespace

Result<Normalizer> Normalizer::Make(const std::string& name, const NormalizerRules& rules,
                                    const PieceTrie* user_defined) {
  Normalizer normalizer;
  normalizer.add_dummy_prefix_ = rules.add_dummy_prefix;
  normalizer.remove_extra_blanks_ = rules.remove_extra_blanks;
  if (!rules.escape_blanks) normalizer.blank_ = " ";
  normalizer.user_defined_ = user_defined;
  const std::string& map = rules.character_map;
  if (map.empty()) return normalizer;
  uint32_t array_bytes = 0;
  if (map.size() > sizeof(array_bytes)) std::memcpy(&array_bytes, map.data(), sizeof(array_bytes));
  if (array_bytes == 0 || array_bytes % sizeof(uint32_t) != 0 ||
      array_bytes > map.size() - sizeof(array_bytes) || map.back() != '\0') {
    return Status(ErrorCode::kBadData, Text(name, ": its character map is cut short"));
  }
  normalizer.units_.resize(array_bytes / sizeof(uint32_t));
  std::memcpy(normalizer.units_.data(), map.data() + sizeof(array_bytes), array_bytes);
  normalizer.replacements_ = map.substr(sizeof(array_bytes) + array_bytes);
  return normalizer;
}

std::pair<std::string_view, size_t> Normalizer::MappedFront(std::string_view text) const {
  std::pair<std::string_view, size_t> longest{"", 0};
  if (units_.empty()) return longest;
  uint32_t node = OffsetOf(units_[0]);
  // A forged array may go round in circles.
  constexpr size_t kLongestKey = 256;
  for (size_t i = 0; i < std::min(text.size(), kLongestKey); ++i) {
    const auto label = static_cast<uint8_t>(text[i]);
    node ^= label;
    if (node >= units_.size() || LabelOf(units_[node]) != label) break;
    const uint32_t unit = units_[node];
    node ^= OffsetOf(unit);
    if (!HasLeaf(unit) || node >= units_.size()) continue;
    const uint32_t value = ValueOf(units_[node]);
    if (value < replacements_.size()) {
      longest = {std::string_view(replacements_.data() + value), i + 1};
    }
  }
  return longest;
}

std::pair<std::string_view, size_t> Normalizer::Front(std::string_view text) const {
  if (user_defined_ != nullptr) {
    const size_t bytes = user_defined_->LongestPrefix(text);
    if (bytes > 0) return {text.substr(0, bytes), bytes};
  }
  const auto mapped = MappedFront(text);
  if (mapped.second > 0) return mapped;
  const size_t bytes = Utf8Length(text);
  if (bytes == 0) return {kReplacementCharacter, 1};
  return {text.substr(0, bytes), bytes};
}

Result<std::string> Normalizer::Normalize(std::string_view text) const {
  const size_t text_bytes = text.size(), most = kMostGrowth * text_bytes + kSpareBytes;
  std::string normalized;
  if (remove_extra_blanks_) {
    while (!text.empty()) {
      const auto [front, bytes] = Front(text);
      if (front != " ") break;
      text.remove_prefix(bytes);
    }
  }
  if (text.empty()) return normalized;
  normalized.reserve(text.size() + text.size() / 2);
  if (add_dummy_prefix_) normalized += blank_;
  bool after_blank = remove_extra_blanks_;
  while (!text.empty()) {
    auto [front, bytes] = Front(text);
    text.remove_prefix(bytes);
    while (after_blank && front.starts_with(' ')) front.remove_prefix(1);
    if (normalized.size() + front.size() * blank_.size() > most) {
      return Status(ErrorCode::kBadData,
                    Text("the tokenizer's character map makes more than ", most, " bytes of ",
                         text_bytes, " bytes of text; allowed are ", kMostGrowth,
                         " for each: take a tokenizer from a source that you trust"));
    }
    for (const char c : front) {
      if (c == ' ') {
        normalized += blank_;
      } else {
        normalized += c;
      }
    }
    if (!front.empty()) after_blank = remove_extra_blanks_ && front.back() == ' ';
  }
  while (remove_extra_blanks_ && normalized.ends_with(blank_)) {
    normalized.resize(normalized.size() - blank_.size());
  }
  return normalized;
}

}  // namespace resmem
