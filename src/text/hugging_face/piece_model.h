// "model" of a tokenizer.json: a word into pieces of the vocabulary.
#ifndef RESMEM_TEXT_HUGGING_FACE_PIECE_MODEL_H_
#define RESMEM_TEXT_HUGGING_FACE_PIECE_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "resmem/lm/tokenizer.h"
#include "support/json.h"

namespace resmem {

class Vocabulary {
 public:
  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;  // texts_ keeps its place in memory
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;
  // {"text": id, ...}; kBadData for an id twice, a text too long, ids with wide gaps.
  static Result<Vocabulary> OfObject(const Json& json);
  // [["text", score], ...]
  static Result<Vocabulary> OfList(const Json& json);

  std::optional<int32_t> Find(std::string_view text) const;
  const std::vector<std::string>& texts() const { return texts_; }  // by id; empty in a gap
  const std::vector<double>& scores() const { return scores_; }     // of a list
  // The ids of "<0x00>" to "<0xFF>"; -1 where one is missing.
  std::vector<int32_t> Bytes() const;

 private:
  Status Add(std::string_view text, uint64_t id, size_t count);
  std::vector<std::string> texts_;
  std::vector<double> scores_;
  std::unordered_map<std::string_view, int32_t> ids_;  // of texts_
};

// Appends the pieces of the bytes of `text`, if all are there; `bytes` may be empty.
bool AddBytes(const std::vector<int32_t>& bytes, std::string_view text, std::vector<int32_t>* ids);

// Immutable: const methods may be called from any number of threads.
class PieceModel {
 public:
  virtual ~PieceModel() = default;
  // Appends the ids of `word` (not empty, valid UTF-8).  kBadData where the word has a character
  // that no piece holds, and none stands for what is unknown.
  virtual Status Encode(std::string_view word, std::vector<int32_t>* ids) const = 0;
  virtual TokenizerKind kind() const = 0;
  virtual const Vocabulary& vocabulary() const = 0;
  virtual std::optional<int32_t> unknown_id() const = 0;
};

// Errors: kBadData, kUnsupported (a type or an option that is not known, by name).
Result<std::unique_ptr<PieceModel>> ReadPieceModel(const Json& model);

// Each a model of its type.  `merges`: pairs of texts, the best first.
using MergeList = std::vector<std::pair<std::string_view, std::string_view>>;
Result<std::unique_ptr<PieceModel>> MakeBytePairs(const Json& options, Vocabulary vocabulary,
                                                  const MergeList& merges);
Result<std::unique_ptr<PieceModel>> ReadUnigram(const Json& model);
Result<std::unique_ptr<PieceModel>> ReadWordPiece(const Json& model);
Result<std::unique_ptr<PieceModel>> ReadWordLevel(const Json& model);

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_PIECE_MODEL_H_
