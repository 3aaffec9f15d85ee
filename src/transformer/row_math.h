// The arithmetic of a transformer between its matrix products, a row at a time.
//
// Lengths are multiples of 32 unless said otherwise; arrays need no alignment.  Results do not
// depend on the number of threads; between instruction sets they differ in the last bits.
#ifndef RESMEM_TRANSFORMER_ROW_MATH_H_
#define RESMEM_TRANSFORMER_ROW_MATH_H_

#include <cstdint>

#include "transformer/bfloat16.h"

namespace resmem {

// out = x * scale * weight, where scale = 1 / sqrt(mean(x^2) + epsilon) is returned.
float NormRow(const float* x, const float* weight, int64_t n, float* out);
// Adds to `x_gradient` and `weight_gradient` what `gradient`, that of `out`, says of them.
void NormRowBackward(const float* x, const float* weight, float scale, const float* gradient,
                     int64_t n, float* x_gradient, float* weight_gradient);

void AddRow(const float* x, int64_t n, float* sum);  // sum += x
void ScaleRow(float factor, int64_t n, float* x);
void ReluRow(int64_t n, float* x);
// gradient = activation > 0 ? gradient * factor : 0
void ReluRowBackward(const Bfloat16* activation, float factor, int64_t n, float* gradient);

// The same values are dropped whenever the key is the same, in either direction.
struct Dropout {
  uint32_t threshold = 0;  // of 2^32: the share that is dropped
  float scale = 1;         // of what stays
  uint64_t key = 0;

  static Dropout Of(double share);
  bool active() const { return threshold > 0; }
  // Another one, for another place.
  Dropout At(uint64_t place) const;
};
// x[i], which is number first + i of its place.
void DropRow(const Dropout& dropout, int64_t first, int64_t n, float* x);

// scores[i] = softmax over i < count of (scores[i] + bias[i]); 0 from count on.  count <= n is any
// number from 1; bias has n values.
void SoftmaxRow(const float* bias, int64_t count, int64_t n, float* scores);
// gradient, of the softmax, becomes that of the scores.
void SoftmaxRowBackward(const Bfloat16* probabilities, int64_t n, float* gradient);

// A block of logits, `rows` vocabulary entries from `first_id` on of 32 tokens each.
struct TokenLogits {
  float largest[kPanelSide];
  float sum[kPanelSide];  // of exp(logit - largest)
  int32_t best[kPanelSide];
};
void StartLogits(TokenLogits* tokens);
void MergeLogits(const float* logits, int64_t rows, int32_t first_id, TokenLogits* tokens);
// `b` follows `a`.
void MergeLogits(const TokenLogits& b, TokenLogits* a);
// logits = exp(logits - log_sum[token])
void Probabilities(const float* log_sum, int64_t rows, float* logits);
// A block of rows x 32 as rows (row_stride apart) and as panels; rows is a multiple of 32.
void RoundBlock(const float* block, int64_t rows, Bfloat16* out, int64_t row_stride,
                Bfloat16* panels);

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_ROW_MATH_H_
