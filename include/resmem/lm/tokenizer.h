// Text to token ids and back, by a SentencePiece model: T5's, or one of `resmem tokenizer train`.
//
// The algorithms (unigram, BPE) and the file are SentencePiece's; the code is ours, so that a
// damaged model is an error and not a crash: docs/decisions/own_sentencepiece.md.  Ids agree with
// those of spm_encode, line by line.
#ifndef RESMEM_LM_TOKENIZER_H_
#define RESMEM_LM_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/status.h"

namespace resmem {

enum class TokenizerKind { kUnigram, kBpe };
const char* TokenizerKindName(TokenizerKind kind);  // "unigram", "bpe"

// Movable, immutable: const methods may be called from any number of threads.
class Tokenizer {
 public:
  // Errors: kNotFound, kIo, kBadData (not a model, or one that contradicts itself), kUnsupported
  // (word and character models and other rarities, each named).
  static Result<Tokenizer> Open(const std::string& path);
  static Result<Tokenizer> Parse(const std::string& name, std::span<const std::byte> bytes);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  TokenizerKind kind() const;
  int64_t size() const;                      // pieces: ids are 0 .. size() - 1
  const std::string& fingerprint() const;    // 32 hexadecimal digits of the file's bytes
  std::optional<int32_t> end_id() const;     // </s>
  int32_t unknown_id() const;                // stands for characters that no piece holds
  std::string_view piece(int32_t id) const;  // a blank is U+2581, as in the model
  float score(int32_t id) const;             // unigram: log-probability; BPE: minus the rank
  bool is_control(int32_t id) const;         // has no text: </s>, <pad>

  // Appends the ids of `text` to `ids`.  Each line is encoded by itself, as spm_encode does, so a
  // line break counts as a blank; a line beyond 64 KiB is cut at a blank where it has one.
  Status Encode(std::string_view text, std::vector<int32_t>* ids) const;
  // kInvalidArgument where an id is outside 0 .. size() - 1.
  Result<std::string> Decode(std::span<const int32_t> ids) const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace resmem

#endif  // RESMEM_LM_TOKENIZER_H_
