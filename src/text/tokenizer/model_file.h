// What a SentencePiece model file says: the fields of its protocol buffer that matter here.
#ifndef RESMEM_TEXT_TOKENIZER_MODEL_FILE_H_
#define RESMEM_TEXT_TOKENIZER_MODEL_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/lm/tokenizer.h"
#include "resmem/status.h"

namespace resmem {

enum class PieceType : uint64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

struct Piece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::kNormal;
};

// Whether text may be split into this piece; the others have ids only.
inline bool IsInText(const Piece& piece) {
  return piece.type == PieceType::kNormal || piece.type == PieceType::kUserDefined ||
         piece.type == PieceType::kUnused;
}

struct NormalizerRules {
  std::string character_map;  // a double array and the texts that it points to
  bool add_dummy_prefix = true;
  bool remove_extra_blanks = true;
  bool escape_blanks = true;
};

struct ModelFile {
  std::vector<Piece> pieces;  // by id
  TokenizerKind kind = TokenizerKind::kUnigram;
  NormalizerRules normalizer;
  bool byte_fallback = false;
  std::string end_piece = "</s>";
  std::string unknown_text = " \xE2\x81\x87 ";  // what an unknown token is decoded to
};

// kBadData or kUnsupported; every piece has a text without NUL and a finite score, texts differ,
// one piece is unknown, at least one is normal, and byte fallback has all of its 256 pieces.
Result<ModelFile> ParseModelFile(const std::string& name, std::string_view bytes);

// The byte that "<0x41>" stands for, or -1.
int ByteOfPiece(std::string_view text);

}  // namespace resmem

#endif  // RESMEM_TEXT_TOKENIZER_MODEL_FILE_H_
