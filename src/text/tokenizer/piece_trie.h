// Which pieces does a text begin with?  Immutable once built.
#ifndef RESMEM_TEXT_TOKENIZER_PIECE_TRIE_H_
#define RESMEM_TEXT_TOKENIZER_PIECE_TRIE_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace resmem {

class PieceTrie {
 public:
  static constexpr int32_t kNone = -1;

  // Different texts, none empty, each with its id; in any order.
  explicit PieceTrie(std::vector<std::pair<std::string_view, int32_t>> pieces);

  // visit(bytes, id) for each piece that `text` begins with, the shortest first.
  template <typename Visit>
  void ForEachPrefix(std::string_view text, Visit visit) const {
    uint32_t node = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      node = Child(node, static_cast<uint8_t>(text[i]));
      if (node == 0) return;
      if (ids_[node] != kNone) visit(i + 1, ids_[node]);
    }
  }
  // Bytes of the longest piece that `text` begins with; 0 where there is none.
  size_t LongestPrefix(std::string_view text) const {
    size_t longest = 0;
    ForEachPrefix(text, [&](size_t bytes, int32_t) { longest = bytes; });
    return longest;
  }
  int32_t Find(std::string_view text) const {
    uint32_t node = 0;
    for (const char byte : text) {
      node = Child(node, static_cast<uint8_t>(byte));
      if (node == 0) return kNone;
    }
    return ids_[node];
  }

 private:
  // 0, which is the root and no child, where there is none.
  uint32_t Child(uint32_t node, uint8_t label) const {
    uint32_t begin = first_[node];
    uint32_t count = first_[node + 1] - begin;
    while (count > 0) {  // the labels of a node ascend
      const uint32_t half = count / 2;
      if (labels_[begin + half] < label) {
        begin += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    return begin < first_[node + 1] && labels_[begin] == label ? begin + 1 : 0;
  }

  // Nodes are numbered level by level, so the edge e leads to node e + 1; the edges of node n are
  // [first_[n], first_[n + 1]).
  std::vector<uint32_t> first_;
  std::vector<uint8_t> labels_;
  std::vector<int32_t> ids_;
};

}  // namespace resmem

#endif  // RESMEM_TEXT_TOKENIZER_PIECE_TRIE_H_
