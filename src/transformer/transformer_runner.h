// A trained decoder-only T5 that answers: keys and logits of windows of tokens.
//
// Computes as the one that learns (transformer.h): products of bfloat16 numbers with float32 sums,
// by the matrix unit where there is one.  An answer depends on its window alone, not on the other
// windows and not on the number of threads; between instruction sets it differs in the last bits.
#ifndef RESMEM_TRANSFORMER_TRANSFORMER_RUNNER_H_
#define RESMEM_TRANSFORMER_TRANSFORMER_RUNNER_H_

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "resmem/lm/token_model.h"
#include "transformer/window_pass.h"

namespace resmem {

// Any number of threads may call Run().
class TransformerRunner {
 public:
  // `values`: as ParameterLayout lays them out.  `context`: tokens of the longest window.
  TransformerRunner(const LanguageModelShape& shape, std::vector<float> values, int64_t context,
                    int threads);
  TransformerRunner(const TransformerRunner&) = delete;
  TransformerRunner& operator=(const TransformerRunner&) = delete;
  ~TransformerRunner();

  // As TokenModel::Run(), of windows that have been checked.
  void Run(std::span<const TokenInput> windows, float* keys, float* logits) const;

 private:
  struct Scratch;
  std::unique_ptr<Scratch> TakeScratch() const;
  // One window up to the norm before the output layer; `normed` gets the rows that are wanted.
  void RunLayers(const TokenInput& window, Scratch* scratch, float* keys, Bfloat16* normed) const;
  void RunOutputLayer(const RoundedRows& normed, int64_t rows, float* logits) const;

  const LanguageModelShape shape_;
  const ParameterLayout layout_;
  const std::vector<float> values_;
  const int threads_;
  PackedWeights packed_;
  Weights weights_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> idle_;  // guarded by mutex_
};

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_TRANSFORMER_RUNNER_H_
