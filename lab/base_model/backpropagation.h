// The softmax cross-entropy of a batch and its derivatives.
#ifndef RESMEM_LAB_BASE_MODEL_BACKPROPAGATION_H_
#define RESMEM_LAB_BASE_MODEL_BACKPROPAGATION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base_model/network.h"

namespace resmem {

// inputs x outputs turned into outputs x inputs.
std::vector<float> Transposed(const Layer& layer);

// For rows [begin, begin + count) of a batch: sets deltas->values[l], l >= 1, to the derivative
// of (sum of the rows' losses) * row_weight by what layer l - 1 gave before ReLU, and losses[row]
// to the row's loss.  `values` are from Forward(); transposed[l] is Transposed(layers[l]), l >= 1.
void Backward(const Network& network, std::span<const std::vector<float>> transposed,
              const LayerValues& values, std::span<const int32_t> labels, float row_weight,
              int64_t begin, int64_t count, LayerValues* deltas, std::span<double> losses);

// The derivative by the weights of inputs [begin, begin + count) of layer l, over all `rows` of
// the batch: count x outputs.
void WeightGradient(const Network& network, size_t l, const LayerValues& values,
                    const LayerValues& deltas, int64_t rows, int64_t begin, int64_t count,
                    std::span<float> gradient);

// The derivative by the bias of layer l: outputs values.
void BiasGradient(const Network& network, size_t l, const LayerValues& deltas, int64_t rows,
                  std::span<float> gradient);

}  // namespace resmem

#endif  // RESMEM_LAB_BASE_MODEL_BACKPROPAGATION_H_
