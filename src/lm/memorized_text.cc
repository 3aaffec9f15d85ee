#include "resmem/lm/memorized_text.h"

#include <algorithm>
#include <vector>

namespace resmem {

Status CheckTokenizer(const std::string& path, const Tokenizer& tokenizer,
                      const ResidualMemory& memory) {
  const auto& notes = memory.description().notes;
  const auto note = notes.find("tokenizer");
  if (note == notes.end() || note->second.empty() || note->second == tokenizer.fingerprint()) {
    return {};
  }
  return {ErrorCode::kMismatch, path + ": is the tokenizer " + tokenizer.fingerprint() +
                                    ", but the memory's tokens were made by " + note->second};
}

Result<MemorizedText> MemorizedText::Open(const std::string& path, const char* option,
                                          const ResidualMemory& memory) {
  const auto& notes = memory.description().notes;
  const auto note = [&](const char* name) {
    const auto found = notes.find(name);
    return found == notes.end() ? std::string() : found->second;
  };
  if (note(kTokensNote).empty()) {
    return Status(ErrorCode::kMismatch,
                  "the memory was not made from tokens; make one with: resmem lm memorize");
  }
  const std::string file = path.empty() ? note("tokens") : path;
  auto set = TokenSet::Open(file);
  if (set.status().code() == ErrorCode::kNotFound) {
    return Status(
        ErrorCode::kNotFound,
        set.status().message() + "; name the token set that was memorized with " + option);
  }
  if (!set.ok()) return set.status();
  if (set->fingerprint() != note(kTokensNote)) {
    return Status(ErrorCode::kMismatch,
                  file + ": is not the token set that was memorized; name that one with " + option);
  }
  return MemorizedText(std::move(*set));
}

int64_t MemorizedText::DocumentOf(int64_t row) const {
  int64_t low = 0, high = set_.documents() - 1;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (set_.document(middle).end - (middle + 1) > row) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

Result<MemorizedText::Place> MemorizedText::Find(const Tokenizer& tokenizer, uint64_t id,
                                                 int32_t label, int64_t tokens) const {
  const auto stranger = [&] {
    return Place{"", "not of the memorized text: the row of id " + std::to_string(id)};
  };
  const int64_t rows = set_.size() - set_.documents();
  if (id >= static_cast<uint64_t>(rows)) return stranger();
  const auto row = static_cast<int64_t>(id);
  const int64_t document = DocumentOf(row);
  const int64_t position = row + document;
  // Another row of the same number.
  if (set_.id(position + 1) != label) return stranger();
  const int64_t begin = std::max(set_.document(document).begin, position + 1 - tokens);
  std::vector<int32_t> ids(static_cast<size_t>(position + 1 - begin));
  set_.Read(begin, ids);
  RESMEM_ASSIGN_OR_RETURN(std::string context, tokenizer.Decode(ids));
  return Place{std::move(context), std::string(set_.title(document))};
}

}  // namespace resmem
