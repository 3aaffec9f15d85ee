// The output layer fused with the loss: logits = normed x embedding^T over the whole vocabulary,
// softmax, cross-entropy, and the gradients of both sides.  It is most of a small model's work.
//
// The logits are never kept.  They are computed twice, a block of the vocabulary at a time: once
// for the sum of each token's softmax, once more for its gradient, which goes straight into the two
// products that need it.
#ifndef RESMEM_LAB_LM_TRAINING_OUTPUT_LAYER_H_
#define RESMEM_LAB_LM_TRAINING_OUTPUT_LAYER_H_

#include <span>
#include <vector>

#include "transformer/activations.h"
#include "transformer/packed_weights.h"
#include "transformer/row_math.h"

namespace resmem {

struct Outcome {
  double loss = 0;  // the sum over `predicted` tokens
  int64_t predicted = 0, right = 0;

  void Add(const Outcome& other) {
    loss += other.loss;
    predicted += other.predicted;
    right += other.right;
  }
};

class OutputLayer {
 public:
  OutputLayer(const LanguageModelShape& shape, const PackedWeights& packed, int threads);

  // targets: one a row of `normed`, -1 where nothing is predicted; their number is a multiple of
  // 32.
  Outcome Judge(const RoundedRows& normed, std::span<const int32_t> targets);
  // Judge(), which also sets `normed_gradient` (rows x dim) and adds to `embedding_gradient`
  // (vocabulary x dim): gradients of the sum of the losses.
  Outcome Learn(const RoundedRows& normed, std::span<const int32_t> targets, float* normed_gradient,
                float* embedding_gradient);

 private:
  // So many rows at a time: what a part works on then stays in the second cache.
  static constexpr int64_t kRowsTogether = 512;
  static constexpr int64_t kVocabularyBlock = 128;
  // The vocabulary in as many parts, each summed up by one thread, whatever the number of threads.
  static constexpr int64_t kParts = 16;

  struct Part {
    AlignedArray<float> logits;           // kVocabularyBlock x 32
    std::vector<TokenLogits> sums;        // one for 32 rows
    AlignedArray<Bfloat16> gradient;      // kVocabularyBlock x rows
    AlignedArray<Bfloat16> panels;        // the same
    AlignedArray<float> normed_gradient;  // dim x rows
  };

  Outcome JudgeRows(const RoundedRows& normed, int64_t first, std::span<const int32_t> targets);
  void LearnRows(const RoundedRows& normed, int64_t first, std::span<const int32_t> targets,
                 float* normed_gradient, float* embedding_gradient);
  void SumPart(std::span<const int32_t> targets, Part* part, int64_t begin, int64_t end);
  void LearnPart(std::span<const int32_t> targets, Part* part, int64_t begin, int64_t end,
                 float* embedding_gradient);
  // Logits of the vocabulary's [begin, begin + count) for 32 rows.
  void Logits(int64_t begin, int64_t count, int64_t panel, float* logits) const;
  // Calls work(part, begin, end) for each part of the vocabulary.
  template <typename Work>
  void EachPart(const Work& work);

  const LanguageModelShape shape_;
  const PackedWeights& packed_;
  int threads_;
  AlignedArray<Bfloat16> columns_;  // panels of normed^T
  AlignedArray<Bfloat16> rows_;     // panels of normed
  AlignedArray<float> log_sum_, target_logit_;
  std::vector<Part> parts_;
};

}  // namespace resmem

#endif  // RESMEM_LAB_LM_TRAINING_OUTPUT_LAYER_H_
