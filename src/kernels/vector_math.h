// The arithmetic of a prediction: softmax, neighbor weights, the weighted sum, argmax.
//
// Every function gives the same bits on every instruction set: products and sums are rounded
// one by one (never fused), sums run over 16 virtual lanes that are combined in one fixed
// order, and the exponential is our own.  Arrays need no alignment.  Inputs are finite unless
// said otherwise.
#ifndef RESMEM_KERNELS_VECTOR_MATH_H_
#define RESMEM_KERNELS_VECTOR_MATH_H_

#include <cstdint>

namespace resmem {

// out[i] = e^x[i], within 2 units in the last place; exactly 1 at 0; 0 below -87.33, where
// the result would be subnormal; infinite above 88.72.  `out` may be `x`.
void Exp(const float* x, int64_t n, float* out);

// out = softmax(logits / temperature), n >= 1, temperature > 0.  `out` may be `logits`.
void Softmax(const float* logits, int64_t n, float temperature, float* out);
// The same with the other sign.
void NegativeSoftmax(const float* logits, int64_t n, float temperature, float* out);

// weights[i] = exp(-(distances[i] - distances[0]) / sigma), not normalized.  Distances are
// ascending and may end in infinities, whose weights are 0; sigma > 0.
void NeighborWeights(const float* distances, int64_t k, float sigma, float* weights);

// The sum of n floats, in the fixed order.
float Sum(const float* x, int64_t n);

// accumulator[i] += weight * x[i], the product and the sum each rounded to float.
void AddScaled(float weight, const float* x, int64_t n, float* accumulator);

// AddScaled(), and x is all zeros afterwards.
void AddScaledAndClear(float weight, float* x, int64_t n, float* accumulator);

// AddScaled() for `count` rows of n values in order, `stride` floats apart: the same bits as one
// call for each, but the accumulator stays in registers.
void AddScaledRows(const float* weights, const float* rows, int64_t stride, int64_t count,
                   int64_t n, float* accumulator);

// Position of the largest value, the first of equals.  n >= 1.
int64_t ArgMax(const float* x, int64_t n);

// ArgMax of base[i] + sum[i] * scale, the product and the sum each rounded, without writing it.
int64_t ArgMaxOfSum(const float* base, const float* sum, float scale, int64_t n);

// ArgMax of (1 - lambda) * base[i] + lambda * (sum[i] * scale), in the same way.
int64_t ArgMaxOfMix(float lambda, const float* base, const float* sum, float scale, int64_t n);

}  // namespace resmem

#endif  // RESMEM_KERNELS_VECTOR_MATH_H_
