// Text to token ids and back, by a file of one of these forms:
//
//   a SentencePiece model    T5's, or one of `resmem tokenizer train`; ids as those of spm_encode,
//                            line by line
//   tokenizer.json           of Hugging Face: byte pairs, unigram, WordPiece; ids as those of their
//                            library
//   vocab.json               GPT-2's, with merges.txt beside it
//
// The code is ours, so that a damaged file is an error and not a crash:
// docs/decisions/own_sentencepiece.md.
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

enum class TokenizerKind { kUnigram, kBpe, kWordPiece, kWordLevel };
// "unigram", "bpe", "wordpiece", "words"
const char* TokenizerKindName(TokenizerKind kind);

class TextCoder;

// Movable, immutable: const methods may be called from any number of threads.
class Tokenizer {
 public:
  // A file, or the folder of a published model.
  // Errors: kNotFound, kIo, kBadData (not a tokenizer, or one that contradicts itself),
  // kUnsupported (word and character models of SentencePiece, and other rarities, each named).
  static Result<Tokenizer> Open(const std::string& path);
  static Result<Tokenizer> Parse(const std::string& name, std::span<const std::byte> bytes);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  TokenizerKind kind() const;
  int64_t size() const;                    // pieces: ids are 0 .. size() - 1
  const std::string& fingerprint() const;  // 32 hexadecimal digits of the file's bytes
  // What a text begins with by the file's own template: <s>, [CLS].
  std::optional<int32_t> begin_id() const;
  // What ends a document: </s>, <|endoftext|>.
  std::optional<int32_t> end_id() const;
  // Stands for characters that no piece holds; byte-level tokenizers have none.
  std::optional<int32_t> unknown_id() const;
  std::string_view piece(int32_t id) const;  // a blank is U+2581
  std::optional<int32_t> FindPiece(std::string_view text) const;
  float score(int32_t id) const;  // unigram: log-probability; BPE of SentencePiece: minus the rank
  bool is_control(int32_t id) const;  // has no text: </s>, <pad>

  // Appends the ids of `text` to `ids`.
  // SentencePiece: each line is encoded by itself, as spm_encode does, so a line break counts as a
  // blank; a line beyond 64 KiB is cut at a blank where it has one.
  // tokenizer.json: the text is encoded as a whole; one beyond 64 KiB is cut before a blank.
  // kBadData where the tokenizer is a forged one.
  Status Encode(std::string_view text, std::vector<int32_t>* ids) const;
  // The same, with begin_id() in front where there is one, and nothing where there is no text.
  Status EncodeFromBeginning(std::string_view text, std::vector<int32_t>* ids) const;
  // kInvalidArgument where an id is outside 0 .. size() - 1.
  Result<std::string> Decode(std::span<const int32_t> ids) const;

 private:
  Tokenizer(std::unique_ptr<const TextCoder> coder, std::string fingerprint);
  std::unique_ptr<const TextCoder> coder_;
  std::string fingerprint_;
};

}  // namespace resmem

#endif  // RESMEM_LM_TOKENIZER_H_
