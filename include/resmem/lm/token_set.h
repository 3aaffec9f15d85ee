// Text as a language model reads it: the token ids of many documents, one after the other.
//
//   ids        tokens     16 bits each where the vocabulary allows, else 32
//   documents  ranges     of tokens; each ends with end_id(), which a tokenizer calls </s>
//
// One file, mapped: docs/memory_format.md, section 8.  The same documents give the same bytes.
// What a model sees of one document it must not see of another: cut windows inside documents
// (token_windows.h).
#ifndef RESMEM_LM_TOKEN_SET_H_
#define RESMEM_LM_TOKEN_SET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "resmem/lm/text_counts.h"
#include "resmem/status.h"

namespace resmem {

struct TokenSetDescription {
  // Every id is below: the tokenizer's pieces.  A model's own vocabulary may be larger (T5's is
  // 32,128 with a tokenizer of 32,000 pieces).
  int64_t vocabulary_size = 0;
  int32_t end_id = 0;
  std::string tokenizer;  // Tokenizer::fingerprint(); empty: unknown
  TextCounts text;
};

struct TokenRange {
  int64_t begin = 0, end = 0;

  int64_t size() const { return end - begin; }
};

// Movable, immutable: const methods may be called from any number of threads.
class TokenSet {
 public:
  // Reads the file once and checks every value.  Errors: kNotFound, kCorrupt, kTooNew, kIo.
  static Result<TokenSet> Open(const std::string& path);
  TokenSet(TokenSet&&) noexcept;
  TokenSet& operator=(TokenSet&&) noexcept;
  ~TokenSet();

  const std::string& path() const;
  const TokenSetDescription& description() const;
  int64_t vocabulary_size() const { return description().vocabulary_size; }
  int32_t end_id() const { return description().end_id; }
  // 16 hexadecimal digits that depend on every byte of the file.
  std::string fingerprint() const;

  int64_t size() const;  // tokens of all documents
  int64_t documents() const;
  TokenRange document(int64_t document) const;     // at least 2 tokens
  int64_t DocumentAt(int64_t position) const;      // the one that holds this token
  std::string_view title(int64_t document) const;  // may be empty

  int32_t id(int64_t position) const;
  // Tokens [begin, begin + out.size()).
  void Read(int64_t begin, std::span<int32_t> out) const;
  void Read(int64_t begin, std::span<int64_t> out) const;  // as ONNX models take them

 private:
  struct State;
  explicit TokenSet(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

// Writes documents one by one.  `path` appears when Finish() is ok, or stays as it was; until then
// the ids lie in a file beside it.  Memory grows by 16 bytes and the title with each document.
class TokenSetWriter {
 public:
  // Fails at once where the vocabulary is not 2 .. 2^31 - 1, end_id is not in it, or `path` cannot
  // be written.
  static Result<TokenSetWriter> Create(const std::string& path, int64_t vocabulary_size,
                                       int32_t end_id);
  TokenSetWriter(TokenSetWriter&&) noexcept;
  TokenSetWriter& operator=(TokenSetWriter&&) noexcept;
  ~TokenSetWriter();  // removes what was not finished

  // `ids` without the end id, which is added; at least one, all below the vocabulary's size.
  Status Add(std::span<const int32_t> ids, std::string_view title);
  int64_t documents() const;
  int64_t tokens() const;  // with the end ids

  // kBadData where there is no document.  `tokenizer` and `text` are only recorded.
  Status Finish(const std::string& tokenizer, const TextCounts& text);

 private:
  struct State;
  explicit TokenSetWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace resmem

#endif  // RESMEM_LM_TOKEN_SET_H_
