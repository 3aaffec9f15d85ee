#include "text/tokenizer/character_map.h"

#include <algorithm>
#include <cstring>

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

Result<CharacterMap> CharacterMap::Make(std::string_view bytes) {
  CharacterMap map;
  if (bytes.empty()) return map;
  uint32_t array_bytes = 0;
  if (bytes.size() > sizeof(array_bytes)) {
    std::memcpy(&array_bytes, bytes.data(), sizeof(array_bytes));
  }
  if (array_bytes == 0 || array_bytes % sizeof(uint32_t) != 0 ||
      array_bytes > bytes.size() - sizeof(array_bytes) || bytes.back() != '\0') {
    return Status(ErrorCode::kBadData, "its character map is cut short");
  }
  map.units_.resize(array_bytes / sizeof(uint32_t));
  std::memcpy(map.units_.data(), bytes.data() + sizeof(array_bytes), array_bytes);
  map.replacements_ = bytes.substr(sizeof(array_bytes) + array_bytes);
  return map;
}

std::pair<std::string_view, size_t> CharacterMap::LongestPrefix(std::string_view text) const {
  return Prefix(text, true);
}

std::pair<std::string_view, size_t> CharacterMap::ShortestPrefix(std::string_view text) const {
  return Prefix(text, false);
}

std::pair<std::string_view, size_t> CharacterMap::Prefix(std::string_view text,
                                                         bool longest) const {
  std::pair<std::string_view, size_t> found{"", 0};
  if (units_.empty()) return found;
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
    if (value >= replacements_.size()) continue;
    found = {std::string_view(replacements_.data() + value), i + 1};
    if (!longest) break;
  }
  return found;
}

}  // namespace resmem
