#include "text/tokenizer/normalizer.h"

#include <utility>

#include "support/text.h"
#include "text/utf8.h"

namespace resmem {

Result<Normalizer> Normalizer::Make(const std::string& name, const NormalizerRules& rules,
                                    const PieceTrie* user_defined) {
  Normalizer normalizer;
  normalizer.add_dummy_prefix_ = rules.add_dummy_prefix;
  normalizer.remove_extra_blanks_ = rules.remove_extra_blanks;
  if (!rules.escape_blanks) normalizer.blank_ = " ";
  normalizer.user_defined_ = user_defined;
  auto map = CharacterMap::Make(rules.character_map);
  if (!map.ok()) return Status(map.status().code(), Text(name, ": ", map.status().message()));
  normalizer.map_ = std::move(map).value();
  return normalizer;
}

std::pair<std::string_view, size_t> Normalizer::Front(std::string_view text) const {
  if (user_defined_ != nullptr) {
    const size_t bytes = user_defined_->LongestPrefix(text);
    if (bytes > 0) return {text.substr(0, bytes), bytes};
  }
  const auto mapped = map_.LongestPrefix(text);
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
