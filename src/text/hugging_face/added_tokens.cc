#include "text/hugging_face/added_tokens.h"

#include <algorithm>
#include <set>

#include "support/text.h"
#include "text/hugging_face/characters.h"
#include "text/hugging_face/json_parts.h"
#include "text/utf8.h"

namespace resmem {
namespace {

constexpr size_t kMostTokens = 65536;
constexpr size_t kMostTokenBytes = 4096;

Result<AddedToken> ReadToken(const Json& json) {
  AddedToken token;
  const Json* id = FindPart(json, "id");
  RESMEM_ASSIGN_OR_RETURN(token.text, ReadWords(json, "content", ""));
  if (id == nullptr || token.text.empty() || token.text.size() > kMostTokenBytes) {
    return Status(ErrorCode::kBadData, "one of its added tokens has no id or no sound content");
  }
  RESMEM_ASSIGN_OR_RETURN(const int64_t number, ReadCount(json, "id", 0));
  token.id = static_cast<int32_t>(number);
  RESMEM_ASSIGN_OR_RETURN(token.special, ReadFlag(json, "special", false));
  RESMEM_ASSIGN_OR_RETURN(token.normalized, ReadFlag(json, "normalized", !token.special));
  RESMEM_ASSIGN_OR_RETURN(token.single_word, ReadFlag(json, "single_word", false));
  RESMEM_ASSIGN_OR_RETURN(token.strips_left, ReadFlag(json, "lstrip", false));
  RESMEM_ASSIGN_OR_RETURN(token.strips_right, ReadFlag(json, "rstrip", false));
  return token;
}

// The character that `text` ends with, which is not empty.
char32_t LastCharacter(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  text.remove_prefix(begin);
  return TakeCharacter(&text);
}

bool EndsWithWord(std::string_view text) {
  return !text.empty() && (IsWordCharacter(LastCharacter(text)) || IsMark(LastCharacter(text)));
}

bool BeginsWithWord(std::string_view text) {
  if (text.empty()) return false;
  const char32_t first = TakeCharacter(&text);
  return IsWordCharacter(first) || IsMark(first);
}

}  // namespace

Result<AddedTokens> AddedTokens::Read(const Json* json, const TextRules& rules) {
  AddedTokens added;
  if (json == nullptr) return added;
  if (!json->is_array() || json->size() > kMostTokens) {
    return Status(ErrorCode::kBadData, "its added tokens are no list of a sound size");
  }
  std::set<std::string> plain, normalized;
  std::vector<std::pair<std::string, int32_t>> plain_list, normalized_list;
  WorkLimit limit;
  for (const Json& entry : *json) {
    RESMEM_ASSIGN_OR_RETURN(AddedToken token, ReadToken(entry));
    std::string looked_for = token.text;
    if (token.normalized) {
      RESMEM_ASSIGN_OR_RETURN(looked_for, rules.Apply(token.text, &limit));
    }
    const auto number = static_cast<int32_t>(added.tokens_.size());
    if (!looked_for.empty() && (token.normalized ? normalized : plain).insert(looked_for).second) {
      (token.normalized ? normalized_list : plain_list).emplace_back(looked_for, number);
    }
    added.tokens_.push_back(std::move(token));
  }
  const auto build = [](const auto& list, std::optional<PieceTrie>* trie) {
    if (list.empty()) return;
    std::vector<std::pair<std::string_view, int32_t>> views(list.begin(), list.end());
    trie->emplace(std::move(views));
  };
  build(plain_list, &added.plain_);
  build(normalized_list, &added.normalized_);
  return added;
}

Status AddedTokens::Split(std::string_view text, bool normalized, const UseText& use_text,
                          const UseToken& use_token) const {
  const std::optional<PieceTrie>& trie = normalized ? normalized_ : plain_;
  size_t done = 0;
  for (size_t at = 0; trie && at < text.size();) {
    size_t bytes = 0;
    int32_t number = 0;
    trie->ForEachPrefix(text.substr(at), [&](size_t length, int32_t found) {
      bytes = length;
      number = found;
    });
    if (bytes == 0) {
      at += Utf8LengthBySight(text.substr(at));
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(number)];
    size_t begin = at, end = at + bytes;
    at = end;
    if (token.single_word &&
        (EndsWithWord(text.substr(0, begin)) || BeginsWithWord(text.substr(end)))) {
      continue;
    }
    while (token.strips_left && begin > done) {
      if (!IsWhiteSpace(LastCharacter(text.substr(0, begin)))) break;
      --begin;
      while ((static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    }
    while (token.strips_right && end < text.size()) {
      std::string_view rest = text.substr(end);
      if (!IsWhiteSpace(TakeCharacter(&rest))) break;
      end = text.size() - rest.size();
    }
    RESMEM_RETURN_IF_ERROR(use_text(text.substr(done, begin - done), done == 0));
    use_token(token.id);
    done = end;
    at = std::max(at, end);
  }
  return use_text(text.substr(done), done == 0);
}

}  // namespace resmem
