#include <queue>

#include "text/tokenizer/segment.h"
#include "text/utf8.h"

namespace resmem {
namespace {

// A piece so far: text[begin, begin + bytes), empty once it is merged into its left neighbor.
struct Symbol {
  int64_t before = -1, after = -1;  // -1: none
  size_t begin = 0, bytes = 0;
  bool fixed = false;  // user-defined: never merged
};

struct Merge {
  int64_t left = 0, right = 0;
  float score = 0;
  size_t bytes = 0;

  bool operator<(const Merge& other) const {
    return score < other.score || (score == other.score && left > other.left);
  }
};

class Merger {
 public:
  Merger(const PieceTable& table, std::string_view text) : table_(table), text_(text) {
    while (!text.empty()) {
      Symbol symbol;
      symbol.begin = text_.size() - text.size();
      const size_t user =
          table.user_defined == nullptr ? 0 : table.user_defined->LongestPrefix(text);
      symbol.fixed = user > 0;
      symbol.bytes = symbol.fixed ? user : Utf8LengthBySight(text);
      text.remove_prefix(symbol.bytes);
      const auto index = static_cast<int64_t>(symbols_.size());
      symbol.before = index - 1;
      symbol.after = text.empty() ? -1 : index + 1;
      symbols_.push_back(symbol);
    }
  }

  std::vector<FoundPiece> Run() {
    for (int64_t i = 1; i < static_cast<int64_t>(symbols_.size()); ++i) Offer(i - 1, i);
    while (!merges_.empty()) {
      const Merge merge = merges_.top();
      merges_.pop();
      Symbol& left = At(merge.left);
      Symbol& right = At(merge.right);
      // One of the two has been merged otherwise meanwhile.
      if (left.bytes == 0 || right.bytes == 0 || left.bytes + right.bytes != merge.bytes) continue;
      left.bytes = merge.bytes;
      left.after = right.after;
      if (right.after >= 0) At(right.after).before = merge.left;
      right.bytes = 0;
      Offer(left.before, merge.left);
      Offer(merge.left, left.after);
    }
    std::vector<FoundPiece> found;
    for (int64_t i = symbols_.empty() ? -1 : 0; i >= 0; i = At(i).after) {
      const int32_t id = table_.trie->Find(text_.substr(At(i).begin, At(i).bytes));
      found.push_back({id == PieceTrie::kNone ? table_.unknown_id : id, At(i).bytes});
    }
    return found;
  }

 private:
  Symbol& At(int64_t i) { return symbols_[static_cast<size_t>(i)]; }

  void Offer(int64_t left, int64_t right) {
    if (left < 0 || right < 0 || At(left).fixed || At(right).fixed) return;
    const size_t bytes = At(left).bytes + At(right).bytes;
    const int32_t id = table_.trie->Find(text_.substr(At(left).begin, bytes));
    if (id == PieceTrie::kNone) return;
    merges_.push({left, right, (*table_.pieces)[static_cast<size_t>(id)].score, bytes});
  }

  const PieceTable& table_;
  std::string_view text_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Merge> merges_;
};

}  // namespace

std::vector<FoundPiece> SegmentBpe(const PieceTable& table, std::string_view text) {
  return Merger(table, text).Run();
}

}  // namespace resmem
