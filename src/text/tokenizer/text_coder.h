// What is behind a Tokenizer: a SentencePiece model, or a tokenizer.json.
#ifndef RESMEM_TEXT_TOKENIZER_TEXT_CODER_H_
#define RESMEM_TEXT_TOKENIZER_TEXT_CODER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/lm/tokenizer.h"

namespace resmem {

// As the functions of Tokenizer by these names.
class TextCoder {
 public:
  virtual ~TextCoder() = default;
  virtual TokenizerKind kind() const = 0;
  virtual int64_t size() const = 0;
  virtual std::optional<int32_t> begin_id() const = 0;
  virtual std::optional<int32_t> end_id() const = 0;
  virtual std::optional<int32_t> unknown_id() const = 0;
  // Of an id that is one.
  virtual std::string_view piece(int32_t id) const = 0;
  virtual float score(int32_t id) const = 0;
  virtual bool is_control(int32_t id) const = 0;
  virtual Status Encode(std::string_view text, std::vector<int32_t>* ids) const = 0;
  virtual Result<std::string> Decode(std::span<const int32_t> ids) const = 0;
};

}  // namespace resmem

#endif  // RESMEM_TEXT_TOKENIZER_TEXT_CODER_H_
