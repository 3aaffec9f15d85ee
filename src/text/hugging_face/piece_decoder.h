// "decoder" of a tokenizer.json: pieces into a text again.
#ifndef RESMEM_TEXT_HUGGING_FACE_PIECE_DECODER_H_
#define RESMEM_TEXT_HUGGING_FACE_PIECE_DECODER_H_

#include <functional>
#include <string>
#include <vector>

#include "support/json.h"
#include "text/hugging_face/pattern.h"

namespace resmem {

class PieceDecoder {
 public:
  // Null: pieces are joined with blanks.  kUnsupported for a kind that is not known.
  static Result<PieceDecoder> Read(const Json* json);

  // Not always valid UTF-8: a character may be cut.
  Result<std::string> Decode(std::vector<std::string> pieces) const;
  bool has_byte_letters() const { return has_byte_letters_; }

 private:
  using Step = std::function<Result<std::vector<std::string>>(std::vector<std::string> pieces)>;
  Status Add(const Json& json);
  Status AddReplacement(const Json& json);
  Status AddStrip(const Json& json);
  Status AddWordPiece(const Json& json);
  Status AddMetaspace(const Json& json);

  std::vector<Step> steps_;
  bool has_byte_letters_ = false;
};

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_PIECE_DECODER_H_
