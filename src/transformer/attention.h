// Attention of one head over one window, forward and back.
#ifndef RESMEM_TRANSFORMER_ATTENTION_H_
#define RESMEM_TRANSFORMER_ATTENTION_H_

#include "support/aligned_array.h"
#include "transformer/bfloat16.h"
#include "transformer/row_math.h"

namespace resmem {

// Rows of the window's positions.
template <typename T>
struct HeadRows {
  T* first;
  int64_t stride;

  T* Row(int64_t position) const { return first + position * stride; }
};

// What a head works on: `length` positions, a multiple of 32, of head_dim values.
struct HeadInput {
  int64_t length, head_dim;
  HeadRows<const Bfloat16> queries, keys, values;
  // bias[context - 1 - distance]; the 32 values behind them are 0.  The same for gradients.
  const float* bias;
  int64_t context;
  Dropout dropout;

  // bias[j] belongs to a look from `position` at j.
  int64_t BiasOffset(int64_t position) const { return context - 1 - position; }
};

// Scratch of one thread, for windows up to `context` positions.
class Attention {
 public:
  Attention(int64_t context, int64_t head_dim);

  // probabilities: a row for each position, whose values from its block of 32 on are not set.
  // out: length x head_dim.
  void Forward(const HeadInput& in, HeadRows<Bfloat16> probabilities, HeadRows<Bfloat16> out);

  // `out_gradient` -> the gradients of queries, keys and values; adds those of the bias.
  void Backward(const HeadInput& in, HeadRows<const Bfloat16> probabilities,
                HeadRows<const Bfloat16> out_gradient, HeadRows<Bfloat16> queries_gradient,
                HeadRows<Bfloat16> keys_gradient, HeadRows<Bfloat16> values_gradient,
                float* bias_gradient);

 private:
  // The gradient of the scores, and the probabilities after dropout, of the rows of a block.
  void ScoreGradients(const HeadInput& in, HeadRows<const Bfloat16> probabilities,
                      HeadRows<const Bfloat16> out_gradient, int64_t begin, float* bias_gradient);
  // Rounds 32 rows of head_dim values.
  void RoundRows(const HeadInput& in, int64_t begin, HeadRows<Bfloat16> out) const;

  int64_t stride_;              // of the square matrices
  AlignedArray<float> scores_;  // 32 x context
  AlignedArray<float> rows_;    // 32 x head_dim
  AlignedArray<Bfloat16> first_panels_, second_panels_, third_panels_, fourth_panels_;
  AlignedArray<Bfloat16> dropped_, score_gradient_;  // context x context
  AlignedArray<Bfloat16> dropped_turned_, score_gradient_turned_;
};

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_ATTENTION_H_
