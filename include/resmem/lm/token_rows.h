// The rows of a token set as a language model sees them: for each token with a successor in its
// document, the key, the logits and the successor as label (token_windows.h).  Computed as they are
// read, for MemorizeTokens(), Evaluate() and Tune().
#ifndef RESMEM_LM_TOKEN_ROWS_H_
#define RESMEM_LM_TOKEN_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/evaluation.h"
#include "resmem/lm/token_model.h"
#include "resmem/lm/token_set.h"
#include "resmem/lm/token_windows.h"
#include "resmem/rows.h"

namespace resmem {

struct TokenRowsOptions {
  WindowShape shape;
  int64_t documents = 0;       // only the first N; 0: all
  int64_t first_document = 0;  // of these, only from this one on: a shard
};

// Refers to the model and the set, which must outlive it.  Const methods may be called from any
// number of threads.
class TokenRows {
 public:
  // Errors: kInvalidArgument (the shape, a model of images or tables), kMismatch (another
  // tokenizer, or more tokens than the model knows).
  static Result<TokenRows> Make(const TokenModel& model, const TokenSet& set,
                                const TokenRowsOptions& options = {});

  const TokenModel& model() const { return *model_; }
  const TokenSet& set() const { return *set_; }
  const TokenWindows& windows() const { return windows_; }
  // Documents [first_document(), documents()) are used; what follows counts only them.
  int64_t documents() const { return documents_; }
  int64_t first_document() const { return first_document_; }
  int64_t rows() const;
  int64_t window_count() const;
  // Numbers among those of the whole set.
  int64_t first_row() const;
  int64_t first_window() const { return windows_.WindowOfRow(first_row()); }

  // Buffers for one block; reused between calls.
  struct Block {
    Rows view;
    std::vector<float> keys, logits;
    std::vector<int32_t> labels;
    std::vector<uint64_t> ids;        // the row's number in the set
    std::vector<std::string> slices;  // the document's number, "000017"
  };
  // The rows that windows [begin, end) keep, in order; window 0 is first_window().
  Status Read(int64_t begin, int64_t end, Block* block) const;
  // Of any windows.
  Status Read(std::span<const int64_t> windows, Block* block) const;

  // All of them in blocks of a few windows, each row's slice being its document.
  RowSource Source() const;

 private:
  TokenRows(const TokenModel& model, const TokenSet& set, TokenWindows windows,
            int64_t first_document, int64_t documents);

  const TokenModel* model_;
  const TokenSet* set_;
  TokenWindows windows_;
  int64_t first_document_, documents_;
};

// The keys of at most `most` rows, one after another: queries for IndexMemory().  Sampled by the
// seed from windows that hold about eight times as many.
Result<std::vector<float>> SampleKeys(const TokenRows& rows, int64_t most, uint64_t seed,
                                      Progress* progress = nullptr);

// How many windows are read at once: their logits are the largest thing in memory.
inline constexpr int64_t kWindowsAtOnce = 4;

}  // namespace resmem

#endif  // RESMEM_LM_TOKEN_ROWS_H_
