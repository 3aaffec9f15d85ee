#include <algorithm>

#include "text/tokenizer/segment.h"
#include "text/utf8.h"

namespace resmem {

std::vector<FoundPiece> SegmentUnigram(const PieceTable& table, std::string_view text) {
  // The last piece of the best path that ends at a byte.
  struct PathEnd {
    int32_t id = -1;
    float score = 0;
    int64_t begin = -1;  // -1: no path ends here
  };
  constexpr float kUnknownPenalty = 10;
  const float unknown_score = table.lowest_score - kUnknownPenalty;
  std::vector<PathEnd> ends(text.size() + 1);
  for (size_t begin = 0; begin < text.size();) {
    const float score_here = ends[begin].score;
    const auto offer = [&](size_t bytes, int32_t id, auto score) {
      PathEnd& end = ends[begin + bytes];
      const auto candidate = score + score_here;
      if (end.begin >= 0 && !(candidate > end.score)) return;
      end = {id, static_cast<float>(candidate), static_cast<int64_t>(begin)};
    };
    const size_t character = Utf8LengthBySight(text.substr(begin));
    bool has_character = false;
    table.trie->ForEachPrefix(text.substr(begin), [&](size_t bytes, int32_t id) {
      const Piece& piece = (*table.pieces)[static_cast<size_t>(id)];
      if (piece.type == PieceType::kUnused) return;
      if (piece.type == PieceType::kUserDefined) {
        // A bonus by which it wins over any other split.
        offer(bytes, id, static_cast<float>(bytes) * table.highest_score - 0.1);
      } else {
        offer(bytes, id, static_cast<double>(piece.score));  // as SentencePiece adds them
      }
      has_character |= bytes == character;
    });
    if (!has_character) offer(character, table.unknown_id, unknown_score);
    begin += character;
  }
  std::vector<FoundPiece> found;
  for (auto end = static_cast<int64_t>(text.size()); end > 0;) {
    const PathEnd& path = ends[static_cast<size_t>(end)];
    found.push_back({path.id, static_cast<size_t>(end - path.begin)});
    end = path.begin;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace resmem
