// A decoder-only T5 that learns: how wrong its predictions are, and the gradient of that in its
// parameters.
//
// Products are of bfloat16 numbers with float32 sums, everything else and the parameters are
// float32.  Each window goes through the layers on one thread, and whatever is summed over windows
// is summed in one fixed order: results do not depend on the number of threads.
#ifndef RESMEM_LAB_LM_TRAINING_TRANSFORMER_H_
#define RESMEM_LAB_LM_TRAINING_TRANSFORMER_H_

#include <memory>
#include <span>
#include <vector>

#include "lm_training/output_layer.h"
#include "transformer/window_pass.h"

namespace resmem {

// ids[i] is followed by targets[i]; -1: nothing is predicted there.
struct TokenExample {
  std::span<const int32_t> ids, targets;
};

class Transformer {
 public:
  // `context`: positions of the longest window; rounded up to a multiple of 32.
  Transformer(const LanguageModelShape& shape, const ParameterLayout& layout, int64_t context,
              int threads);
  Transformer(const Transformer&) = delete;
  Transformer& operator=(const Transformer&) = delete;

  // The bytes that one takes, about.
  static int64_t Bytes(const LanguageModelShape& shape, int64_t context);

  // To be called whenever the parameters have changed; they must stay until the next call.
  void SetParameters(std::span<const float> parameters);

  // Adds the gradient of the sum of the losses to `gradient`, laid out as the parameters.
  // `dropout_key` decides what is dropped, together with an example's number.
  Outcome Learn(std::span<const TokenExample> examples, double dropout, uint64_t dropout_key,
                std::span<float> gradient);
  Outcome Judge(std::span<const TokenExample> examples);

 private:
  // So many positions go through the layers before the gradients of the matrices are summed up.
  static constexpr int64_t kRowsTogether = 4096;

  // The first examples that fit, one below the other; sets windows_ and targets_.
  size_t Place(std::span<const TokenExample> examples, const Dropout& dropout,
               uint64_t first_number);
  void ForwardAll();
  void BackwardAll();
  void AddSmallGradients(std::span<float> gradient) const;

  const LanguageModelShape shape_;
  const ParameterLayout& layout_;
  int threads_;
  PackedWeights packed_;
  Weights weights_;
  Activations activations_;
  OutputLayer output_layer_;
  std::vector<std::unique_ptr<WindowPass>> passes_;  // one a thread
  std::vector<PlacedWindow> windows_;
  std::vector<int32_t> targets_;
  std::vector<WindowGradients> window_gradients_;
};

}  // namespace resmem

#endif  // RESMEM_LAB_LM_TRAINING_TRANSFORMER_H_
