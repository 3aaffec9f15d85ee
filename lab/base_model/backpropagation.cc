#include "base_model/backpropagation.h"

#include <algorithm>
#include <cmath>

#include "base_model/gemm.h"
#include "kernels/vector_math.h"

namespace resmem {

std::vector<float> Transposed(const Layer& layer) {
  std::vector<float> result(layer.weights.size());
  for (int64_t i = 0; i < layer.inputs; ++i) {
    for (int64_t o = 0; o < layer.outputs; ++o) {
      result[o * layer.inputs + i] = layer.weights[i * layer.outputs + o];
    }
  }
  return result;
}

void Backward(const Network& network, std::span<const std::vector<float>> transposed,
              const LayerValues& values, std::span<const int32_t> labels, float row_weight,
              int64_t begin, int64_t count, LayerValues* deltas, std::span<double> losses) {
  const int64_t classes = network.classes();
  for (int64_t row = begin; row < begin + count; ++row) {
    const float* logits = &values.values.back()[row * classes];
    float* delta = &deltas->values.back()[row * classes];
    Softmax(logits, classes, 1.0f, delta);
    const int32_t label = labels[row];
    // From the logits, not from the probability, which may have become 0.
    const float largest = *std::max_element(logits, logits + classes);
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(double{logits[c]} - largest);
    losses[row] = std::log(sum) + largest - logits[label];
    delta[label] -= 1.0f;
    for (int64_t c = 0; c < classes; ++c) delta[c] *= row_weight;
  }
  for (size_t l = network.layers.size() - 1; l >= 1; --l) {
    const Layer& layer = network.layers[l];
    float* delta = &deltas->values[l][begin * layer.inputs];
    Multiply(count, layer.inputs, layer.outputs,
             {&deltas->values[l + 1][begin * layer.outputs], layer.outputs, 1},
             transposed[l].data(), layer.inputs, delta, layer.inputs);
    const float* activation = &values.values[l][begin * layer.inputs];
    for (int64_t i = 0; i < count * layer.inputs; ++i) {
      delta[i] = activation[i] > 0 ? delta[i] : 0.0f;
    }
  }
}

void WeightGradient(const Network& network, size_t l, const LayerValues& values,
                    const LayerValues& deltas, int64_t rows, int64_t begin, int64_t count,
                    std::span<float> gradient) {
  const Layer& layer = network.layers[l];
  Multiply(count, layer.outputs, rows, {&values.values[l][begin], 1, layer.inputs},
           deltas.values[l + 1].data(), layer.outputs, gradient.data(), layer.outputs);
}

void BiasGradient(const Network& network, size_t l, const LayerValues& deltas, int64_t rows,
                  std::span<float> gradient) {
  const int64_t outputs = network.layers[l].outputs;
  std::fill(gradient.begin(), gradient.begin() + outputs, 0.0f);
  for (int64_t row = 0; row < rows; ++row) {
    const float* delta = &deltas.values[l + 1][row * outputs];
    for (int64_t o = 0; o < outputs; ++o) gradient[o] += delta[o];
  }
}

}  // namespace resmem
