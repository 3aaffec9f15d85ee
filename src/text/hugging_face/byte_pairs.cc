// Byte pair encoding: neighbors are merged, the pair that was learned first before the others.
#include <algorithm>
#include <queue>

#include "support/text.h"
#include "text/hugging_face/json_parts.h"
#include "text/hugging_face/piece_model.h"
#include "text/utf8.h"

namespace resmem {
namespace {

struct Merged {
  uint32_t rank = 0;
  int32_t id = 0;
};

uint64_t PairOf(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

class BytePairs : public PieceModel {
 public:
  explicit BytePairs(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  Status Read(const Json& options, const MergeList& merges);
  Status Encode(std::string_view word, std::vector<int32_t>* ids) const override;
  TokenizerKind kind() const override { return TokenizerKind::kBpe; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::optional<int32_t> unknown_id() const override { return unknown_id_; }

 private:
  // A piece so far; id -1: merged into its left neighbor.
  struct Symbol {
    int32_t id = 0;
    int32_t before = -1, after = -1;
  };
  struct Candidate {
    Merged merged;
    int32_t left = 0, right = 0;
    int32_t left_id = 0, right_id = 0;
    bool operator<(const Candidate& other) const {  // the best is the largest
      return merged.rank != other.merged.rank ? merged.rank > other.merged.rank : left > other.left;
    }
  };
  std::vector<int32_t> Letters(std::string_view word) const;

  Vocabulary vocabulary_;
  std::unordered_map<uint64_t, Merged> merges_;
  std::string prefix_, suffix_;
  std::optional<int32_t> unknown_id_;
  std::vector<int32_t> bytes_;  // with byte fallback
  bool fuse_unknown_ = false, ignore_merges_ = false;
};

Status BytePairs::Read(const Json& options, const MergeList& merges) {
  const Json* dropout = FindPart(options, "dropout");
  if (dropout != nullptr && (!dropout->is_number() || dropout->get<double>() != 0)) {
    return UnknownType("model BPE with", "dropout");
  }
  RESMEM_ASSIGN_OR_RETURN(prefix_, ReadWords(options, "continuing_subword_prefix", ""));
  RESMEM_ASSIGN_OR_RETURN(suffix_, ReadWords(options, "end_of_word_suffix", ""));
  RESMEM_ASSIGN_OR_RETURN(fuse_unknown_, ReadFlag(options, "fuse_unk", false));
  RESMEM_ASSIGN_OR_RETURN(ignore_merges_, ReadFlag(options, "ignore_merges", false));
  RESMEM_ASSIGN_OR_RETURN(const bool byte_fallback, ReadFlag(options, "byte_fallback", false));
  if (byte_fallback) bytes_ = vocabulary_.Bytes();
  RESMEM_ASSIGN_OR_RETURN(const std::string unknown, ReadWords(options, "unk_token", ""));
  if (!unknown.empty()) {
    unknown_id_ = vocabulary_.Find(unknown);
    if (!unknown_id_) {
      return {ErrorCode::kBadData, Text("its vocabulary lacks the unknown piece ", unknown)};
    }
  }
  merges_.reserve(merges.size());
  uint32_t rank = 0;
  std::string whole;
  for (const auto& [left, right] : merges) {
    whole = left;
    whole += right.starts_with(prefix_) ? right.substr(prefix_.size()) : right;
    const auto a = vocabulary_.Find(left), b = vocabulary_.Find(right),
               both = vocabulary_.Find(whole);
    if (!a || !b || !both) {
      return {ErrorCode::kBadData,
              Text("its vocabulary lacks a piece of the merge \"", left, ' ', right, '"')};
    }
    merges_[PairOf(*a, *b)] = {rank++, *both};
  }
  return {};
}

std::vector<int32_t> BytePairs::Letters(std::string_view word) const {
  std::vector<int32_t> ids;
  ids.reserve(word.size());
  bool unknown = false;  // one waits to be added
  std::string marked;
  for (size_t begin = 0; begin < word.size();) {
    const size_t length = Utf8LengthBySight(word.substr(begin));
    std::string_view letter = word.substr(begin, length);
    const bool first = begin == 0;
    begin += length;
    if ((!first && !prefix_.empty()) || (begin == word.size() && !suffix_.empty())) {
      marked = first ? "" : prefix_;
      marked += letter;
      if (begin == word.size()) marked += suffix_;
      letter = marked;
    }
    if (const auto id = vocabulary_.Find(letter)) {
      if (unknown) ids.push_back(*unknown_id_);
      unknown = false;
      ids.push_back(*id);
    } else if (!AddBytes(bytes_, letter, &ids) && unknown_id_) {
      if (unknown && !fuse_unknown_) ids.push_back(*unknown_id_);
      unknown = true;
    }
  }
  if (unknown) ids.push_back(*unknown_id_);
  return ids;
}

Status BytePairs::Encode(std::string_view word, std::vector<int32_t>* ids) const {
  if (ignore_merges_) {
    if (const auto id = vocabulary_.Find(word)) {
      ids->push_back(*id);
      return {};
    }
  }
  const std::vector<int32_t> letters = Letters(word);
  const auto count = static_cast<int32_t>(letters.size());
  std::vector<Symbol> symbols(letters.size());
  std::priority_queue<Candidate> candidates;
  const auto at = [&](int32_t i) -> Symbol& { return symbols[static_cast<size_t>(i)]; };
  const auto offer = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    const auto found = merges_.find(PairOf(at(left).id, at(right).id));
    if (found == merges_.end()) return;
    candidates.push({found->second, left, right, at(left).id, at(right).id});
  };
  for (int32_t i = 0; i < count; ++i) {
    at(i) = {letters[static_cast<size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1};
    if (i > 0) offer(i - 1, i);
  }
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol& left = at(best.left);
    // One of the two has been merged otherwise meanwhile.
    if (left.id != best.left_id || left.after != best.right || at(best.right).id != best.right_id) {
      continue;
    }
    left.id = best.merged.id;
    at(best.right).id = -1;
    left.after = at(best.right).after;
    if (left.after >= 0) at(left.after).before = best.left;
    offer(left.before, best.left);
    offer(best.left, left.after);
  }
  for (int32_t i = count > 0 ? 0 : -1; i >= 0; i = at(i).after) ids->push_back(at(i).id);
  return {};
}

}  // namespace

Result<std::unique_ptr<PieceModel>> MakeBytePairs(const Json& options, Vocabulary vocabulary,
                                                  const MergeList& merges) {
  auto model = std::make_unique<BytePairs>(std::move(vocabulary));
  RESMEM_RETURN_IF_ERROR(model->Read(options, merges));
  return std::unique_ptr<PieceModel>(std::move(model));
}

}  // namespace resmem
