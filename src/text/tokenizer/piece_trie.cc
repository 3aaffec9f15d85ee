#include "text/tokenizer/piece_trie.h"

#include <algorithm>

namespace resmem {

PieceTrie::PieceTrie(std::vector<std::pair<std::string_view, int32_t>> pieces) {
  // By bytes, as they are compared in Child(); char may be signed.
  std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
    return std::lexicographical_compare(
        a.first.begin(), a.first.end(), b.first.begin(), b.first.end(),
        [](char x, char y) { return static_cast<uint8_t>(x) < static_cast<uint8_t>(y); });
  });
  // The pieces below each node of the level that is being made.
  struct Range {
    size_t begin, end;
  };
  std::vector<Range> level = {{0, pieces.size()}};
  ids_ = {kNone};
  for (size_t depth = 0; !level.empty(); ++depth) {
    std::vector<Range> next;
    for (auto [begin, end] : level) {
      first_.push_back(static_cast<uint32_t>(labels_.size()));
      while (begin < end && pieces[begin].first.size() == depth) ++begin;  // it is the node
      while (begin < end) {
        const char label = pieces[begin].first[depth];
        size_t stop = begin;
        while (stop < end && pieces[stop].first[depth] == label) ++stop;
        labels_.push_back(static_cast<uint8_t>(label));
        ids_.push_back(pieces[begin].first.size() == depth + 1 ? pieces[begin].second : kNone);
        next.push_back({begin, stop});
        begin = stop;
      }
    }
    level = std::move(next);
  }
  first_.push_back(static_cast<uint32_t>(labels_.size()));
}

}  // namespace resmem
