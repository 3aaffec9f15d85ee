#include "text/hugging_face/text_rules.h"

#include <memory>
#include <utility>

#include "support/text.h"
#include "text/hugging_face/byte_letters.h"
#include "text/hugging_face/characters.h"
#include "text/hugging_face/json_parts.h"
#include "text/tokenizer/character_map.h"

namespace resmem {
namespace {

constexpr char kNormalizer[] = "normalizer";

std::string WithoutMarks(std::string_view text, bool (*is_mark)(char32_t)) {
  std::string kept;
  while (!text.empty()) {
    const std::string_view before = text;
    if (!is_mark(TakeCharacter(&text))) kept += before.substr(0, before.size() - text.size());
  }
  return kept;
}

std::string CleanForBert(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const char32_t c = TakeCharacter(&text);
    if (c == '\t' || c == '\n' || c == '\r' || IsWhiteSpace(c)) {
      clean += ' ';
    } else if (c != 0 && c != 0xFFFD && !IsControl(c)) {
      AddCharacter(c, &clean);
    }
  }
  return clean;
}

std::string IdeographsApart(std::string_view text) {
  std::string apart;
  while (!text.empty()) {
    const char32_t c = TakeCharacter(&text);
    if (IsIdeograph(c)) apart += ' ';
    AddCharacter(c, &apart);
    if (IsIdeograph(c)) apart += ' ';
  }
  return apart;
}

std::string Stripped(std::string_view text, bool left, bool right) {
  while (left && !text.empty()) {
    std::string_view rest = text;
    if (!IsWhiteSpace(TakeCharacter(&rest))) break;
    text = rest;
  }
  size_t end = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const bool blank = IsWhiteSpace(TakeCharacter(&rest));
    if (!blank || !right) end = text.size() - rest.size();
  }
  return std::string(text.substr(0, end));
}

// Stops where it is beyond `most` bytes.
std::string Mapped(const CharacterMap& map, std::string_view text, size_t most) {
  constexpr size_t kLongestWhole = 5;  // bytes of a grapheme that is looked up as a whole
  std::string mapped;
  const auto add = [&](std::string_view part) {
    const auto [replacement, found] = map.ShortestPrefix(part);
    if (found) mapped += replacement;
    return found;
  };
  while (!text.empty() && mapped.size() <= most) {
    std::string_view grapheme = text.substr(0, GraphemeLength(text));
    text.remove_prefix(grapheme.size());
    if (grapheme.size() <= kLongestWhole && add(grapheme)) continue;
    while (!grapheme.empty()) {
      std::string_view rest = grapheme;
      TakeCharacter(&rest);
      const std::string_view character = grapheme.substr(0, grapheme.size() - rest.size());
      if (!add(character)) mapped += character;
      grapheme = rest;
    }
  }
  return mapped;
}

Result<std::string> DecodeBase64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int held = 0;
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) {
      return Status(ErrorCode::kBadData, "its \"precompiled_charsmap\" is not base64");
    }
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>((bits >> held) & 0xFF);
  }
  return bytes;
}

}  // namespace

Result<TextRules> TextRules::Read(const Json* json) {
  TextRules rules;
  if (json != nullptr) RESMEM_RETURN_IF_ERROR(rules.Add(*json));
  return rules;
}

Status TextRules::Add(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const std::string type, TypeOf(json, kNormalizer));
  if (type == "Sequence") {
    const Json* list = FindPart(json, "normalizers");
    if (list == nullptr || !list->is_array()) {
      return {ErrorCode::kBadData, "its normalizer Sequence has no list of normalizers"};
    }
    for (const Json& part : *list) RESMEM_RETURN_IF_ERROR(Add(part));
    return {};
  }
  if (steps_.size() == kMostParts) {
    return {ErrorCode::kBadData, Text("it has more than ", kMostParts, " normalizers")};
  }
  const auto add = [&](auto function) {
    steps_.push_back([function](std::string text, size_t, WorkLimit*) -> Result<std::string> {
      return function(text);
    });
    return Status();
  };
  for (const auto& [name, form] :
       {std::pair{"NFC", NormalForm::kNfc}, std::pair{"NFD", NormalForm::kNfd},
        std::pair{"NFKC", NormalForm::kNfkc}, std::pair{"NFKD", NormalForm::kNfkd}}) {
    if (type == name) {
      return add([form = form](const std::string& text) { return Normalized(text, form); });
    }
  }
  if (type == "Lowercase") return add(Lowercase);
  if (type == "StripAccents") {
    return add([](const std::string& text) { return WithoutMarks(text, IsMark); });
  }
  if (type == "ByteLevel") return add(BytesAsLetters);
  if (type == "Strip") {
    RESMEM_ASSIGN_OR_RETURN(const bool left, ReadFlag(json, "strip_left", true));
    RESMEM_ASSIGN_OR_RETURN(const bool right, ReadFlag(json, "strip_right", true));
    return add([left, right](const std::string& text) { return Stripped(text, left, right); });
  }
  if (type == "Prepend") {
    RESMEM_ASSIGN_OR_RETURN(const std::string front, ReadWords(json, "prepend", ""));
    puts_blank_in_front_ = front == kBlankMark || front == " ";
    return add([front](const std::string& text) { return text.empty() ? text : front + text; });
  }
  if (type == "BertNormalizer") return AddBert(json);
  if (type == "Replace") return AddReplacement(json);
  if (type == "Precompiled") return AddPrecompiled(json);
  return UnknownType(kNormalizer, type);
}

Status TextRules::AddBert(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const bool clean, ReadFlag(json, "clean_text", true));
  RESMEM_ASSIGN_OR_RETURN(const bool apart, ReadFlag(json, "handle_chinese_chars", true));
  RESMEM_ASSIGN_OR_RETURN(const bool lowercase, ReadFlag(json, "lowercase", true));
  RESMEM_ASSIGN_OR_RETURN(const bool strip, ReadFlag(json, "strip_accents", lowercase));
  steps_.push_back([=](std::string text, size_t, WorkLimit*) -> Result<std::string> {
    if (clean) text = CleanForBert(text);
    if (apart) text = IdeographsApart(text);
    if (strip) text = WithoutMarks(Normalized(text, NormalForm::kNfd), IsNonSpacingMark);
    if (lowercase) text = Lowercase(text);
    return text;
  });
  return {};
}

Status TextRules::AddReplacement(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const Pattern pattern, ReadPattern(json));
  RESMEM_ASSIGN_OR_RETURN(const std::string content, ReadWords(json, "content", ""));
  steps_.push_back(
      [pattern, content](std::string text, size_t most, WorkLimit* limit) -> Result<std::string> {
        RESMEM_ASSIGN_OR_RETURN(const std::vector<ByteRange> found, pattern.Find(text, limit));
        if (found.empty()) return text;
        std::string replaced;
        size_t done = 0;
        for (const ByteRange& match : found) {
          replaced.append(text, done, match.begin - done);
          replaced += content;
          done = match.end;
          if (replaced.size() > most) break;
        }
        return replaced.append(text, done);
      });
  return {};
}

Status TextRules::AddPrecompiled(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const std::string packed, ReadWords(json, "precompiled_charsmap", ""));
  if (packed.empty()) return {};
  RESMEM_ASSIGN_OR_RETURN(const std::string bytes, DecodeBase64(packed));
  auto map = CharacterMap::Make(bytes);
  if (!map.ok()) return map.status();
  auto shared = std::make_shared<const CharacterMap>(std::move(map).value());
  steps_.push_back([shared](std::string text, size_t most, WorkLimit*) -> Result<std::string> {
    return ValidUtf8(Mapped(*shared, text, most));
  });
  return {};
}

Result<std::string> TextRules::Apply(std::string text, WorkLimit* limit) const {
  const size_t most = kMostGrowth * text.size() + kSpareBytes;
  for (const Step& step : steps_) {
    RESMEM_ASSIGN_OR_RETURN(text, step(std::move(text), most, limit));
    if (text.size() <= most) continue;
    return Status(ErrorCode::kBadData,
                  Text("the tokenizer's normalizers make more than ", most, " bytes of ",
                       (most - kSpareBytes) / kMostGrowth,
                       " bytes of text; take a tokenizer from a source that you trust"));
  }
  return text;
}

}  // namespace resmem
