// For tests: SentencePiece models made by hand.
#ifndef RESMEM_TEXT_TOKENIZER_TEST_MODEL_H_
#define RESMEM_TEXT_TOKENIZER_TEST_MODEL_H_

#include <cstring>
#include <string>
#include <vector>

#include "text/tokenizer/model_file.h"

namespace resmem {

inline std::string VarintText(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>((value & 0x7f) | 0x80);
  return text + static_cast<char>(value);
}
inline std::string NumberField(uint64_t field, uint64_t value) {
  return VarintText(field << 3) + VarintText(value);
}
inline std::string TextField(uint64_t field, const std::string& text) {
  return VarintText(field << 3 | 2) + VarintText(text.size()) + text;
}
inline std::string FloatField(uint64_t field, float value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return VarintText(field << 3 | 5) + bytes;
}

inline std::string PieceField(const Piece& piece) {
  return TextField(1, TextField(1, piece.text) + FloatField(2, piece.score) +
                          NumberField(3, static_cast<uint64_t>(piece.type)));
}
// 0 <pad>, 1 </s>, 2 <unk>, then `pieces`.  `trainer` and `normalizer` are more fields of theirs.
inline std::string ModelText(const std::vector<Piece>& pieces, const std::string& trainer = "",
                             const std::string& normalizer = "") {
  std::string text = PieceField({"<pad>", 0, PieceType::kControl}) +
                     PieceField({"</s>", 0, PieceType::kControl}) +
                     PieceField({"<unk>", 0, PieceType::kUnknown});
  for (const Piece& piece : pieces) text += PieceField(piece);
  return text + TextField(2, trainer) + TextField(3, normalizer);
}
// Every letter, and a few pieces of words; blanks are U+2581.
inline std::vector<Piece> SmallPieces() {
  std::vector<Piece> pieces = {{"\xE2\x96\x81", -3}, {"\xE2\x96\x81the", -2},
                               {"he", -4},           {"\xE2\x96\x81t", -5},
                               {"er", -3},           {"ther", -6}};
  for (char c = 'a'; c <= 'z'; ++c) pieces.push_back({std::string(1, c), -7});
  return pieces;
}

}  // namespace resmem

#endif  // RESMEM_TEXT_TOKENIZER_TEST_MODEL_H_
