// The windows that a language model learns from.
#ifndef RESMEM_LAB_LM_TRAINING_TRAINING_WINDOWS_H_
#define RESMEM_LAB_LM_TRAINING_TRAINING_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "lm_training/transformer.h"
#include "resmem/lm/token_set.h"

namespace resmem {

// Tokens [begin, begin + length) are read, each of the next ones is predicted.
struct TrainingWindow {
  int64_t begin = 0, length = 0;
};
// Side by side inside each document: every token but a document's first is predicted exactly once.
std::vector<TrainingWindow> CutWindows(const TokenSet& tokens, int64_t context);

// The order of a pass, from the seed.
std::vector<int64_t> ShuffledWindows(int64_t count, uint64_t seed, int64_t pass);

// `count` of them, spread evenly; all where there are fewer.
std::vector<TrainingWindow> EvenlySpread(const std::vector<TrainingWindow>& windows, int64_t count);

// Windows as a Transformer takes them.
class ExampleBatch {
 public:
  ExampleBatch(const TokenSet& tokens, const std::vector<TrainingWindow>& windows);
  ExampleBatch(const ExampleBatch&) = delete;
  ExampleBatch& operator=(const ExampleBatch&) = delete;

  std::span<const TokenExample> examples() const { return examples_; }
  int64_t tokens() const { return predicted_; }

 private:
  std::vector<std::vector<int32_t>> ids_;
  std::vector<TokenExample> examples_;
  int64_t predicted_ = 0;
};

}  // namespace resmem

#endif  // RESMEM_LAB_LM_TRAINING_TRAINING_WINDOWS_H_
