// What makes keys and logits of raw inputs: the model that made the memory's own keys.
//
//   images   pixels, or PNG, JPEG and WebP files
//   tables   lines of floats
//   text     by a tokenizer; an answer is the next token
//
// Immutable: const methods may be called from any number of threads, and use one each.
#ifndef RESMEM_SERVER_MEMORIES_MEMORY_MODEL_H_
#define RESMEM_SERVER_MEMORIES_MEMORY_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resmem/lm/memorized_text.h"
#include "resmem/lm/token_model.h"
#include "resmem/models/onnx_model.h"

namespace resmem::serve {

struct MemorySource {
  std::string name;        // in addresses: letters, digits, - _ .
  std::string path;        // of the memory; `shards`: of the file that says where they are
  bool shards = false;     // asked elsewhere: shards/shard_set.h
  bool read_only = false;  // nothing may change it
  // Edits go through a stream (edits/edit_log.h) on these nodes; none: there is no stream.
  std::vector<std::string> edits;
  int64_t shard = 1, shards_in_all = 1;  // of a replica: whose rows it has
  int64_t edits_after = 0;               // of a replica without a position: the edits it has
  int64_t edit_replicas = 3;             // of a gateway: of a stream that it makes
  // Files; "" takes what the memory names, if it is there.
  std::string model;       // ONNX
  std::string tokenizer;   // of a memory of tokens; "" for none
  std::string text;        // the token set that a memory of tokens was made of
  std::string validation;  // labeled rows; "" for none
  std::string images;      // of the memory's rows; "" for none
};

// What a model made of raw rows.
struct Embedded {
  int64_t rows = 0;
  std::vector<float> keys, logits;
};

class MemoryModel {
 public:
  // Null where the memory has no model: none is given, and none that it names is there.  Errors:
  // kMismatch where it is not the one that made the keys, and those of opening it.
  static Result<std::shared_ptr<const MemoryModel>> Open(const MemorySource& source,
                                                         const ResidualMemory& memory);

  const ModelManifest& manifest() const;
  // Whether keys made by it belong to this memory.
  bool Made(const ResidualMemory& memory) const;

  // Errors: kBadData with the row where what came cannot be read.
  Status EmbedPixels(std::span<const uint8_t> pixels, int64_t rows, Embedded* out) const;
  Status EmbedFloats(MatrixView inputs, Embedded* out) const;
  Status EmbedImageFiles(std::span<const std::string> files, Embedded* out) const;
  // The next token of each text.
  Status EmbedTexts(std::span<const std::string> texts, Embedded* out) const;
  // The next token after each of the last `wanted` ids, of which the model reads the last
  // manifest().context.
  Status EmbedTokens(std::span<const int32_t> ids, int64_t wanted, Embedded* out) const;

  // Null unless it reads text.
  const Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }
  // A token as it stands in text, a blank before a word included; "" without a tokenizer.
  std::string TokenText(int64_t id) const;
  // The id of a token that is written so; none where there is no such token.
  std::optional<int32_t> FindToken(std::string_view text) const;
  // What stood before the token of a memory's row; "" where that is not known.
  std::string ContextOf(uint64_t id, int32_t label) const;

 private:
  MemoryModel() = default;
  Status OpenText(const MemorySource& source, const ResidualMemory& memory);

  std::optional<OnnxModel> rows_;
  std::optional<TokenModel> tokens_;  // one of the two
  std::optional<Tokenizer> tokenizer_;
  std::optional<MemorizedText> memorized_;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_MEMORY_MODEL_H_
