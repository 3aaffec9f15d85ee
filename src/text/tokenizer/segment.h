// Normalized text into pieces.  Both give the bytes of each piece in turn with its id; the
// unknown id for characters that no piece holds.
#ifndef RESMEM_TEXT_TOKENIZER_SEGMENT_H_
#define RESMEM_TEXT_TOKENIZER_SEGMENT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tokenizer/model_file.h"
#include "text/tokenizer/piece_trie.h"

namespace resmem {

struct FoundPiece {
  int32_t id = 0;
  size_t bytes = 0;
};

// What segmentation needs of a model.
struct PieceTable {
  const std::vector<Piece>* pieces = nullptr;
  const PieceTrie* trie = nullptr;          // of the pieces that text is split into
  const PieceTrie* user_defined = nullptr;  // nullptr: none
  int32_t unknown_id = 0;
  float lowest_score = 0, highest_score = 0;  // of normal pieces
};

// The path of the largest sum of scores; of equal ones the first that is found from the left.
std::vector<FoundPiece> SegmentUnigram(const PieceTable& table, std::string_view text);

// Merges neighbors into the piece of the best score, of equal ones the leftmost, until none fits.
std::vector<FoundPiece> SegmentBpe(const PieceTable& table, std::string_view text);

}  // namespace resmem

#endif  // RESMEM_TEXT_TOKENIZER_SEGMENT_H_
