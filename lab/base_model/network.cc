#include "base_model/network.h"

#include <algorithm>

#include "base_model/gemm.h"
#include "support/parallel.h"

namespace resmem {
namespace {

constexpr int64_t kRowsAPiece = 64;

Layer MakeLayer(int64_t inputs, int64_t outputs) {
  Layer layer;
  layer.inputs = inputs;
  layer.outputs = outputs;
  layer.weights.resize(static_cast<size_t>(inputs * outputs));
  layer.bias.resize(static_cast<size_t>(outputs));
  return layer;
}

// Rows of values[l + 1] from values[l], before ReLU.
void ApplyLayer(const Network& network, size_t l, int64_t begin, int64_t count,
                LayerValues* values) {
  const Layer& layer = network.layers[l];
  float* out = &values->values[l + 1][begin * layer.outputs];
  Multiply(count, layer.outputs, layer.inputs,
           {&values->values[l][begin * layer.inputs], layer.inputs, 1}, layer.weights.data(),
           layer.outputs, out, layer.outputs);
  for (int64_t row = 0; row < count; ++row, out += layer.outputs) {
    for (int64_t o = 0; o < layer.outputs; ++o) out[o] += layer.bias[o];
  }
}

// On what layer l sees.
void ApplyRelu(const Network& network, size_t l, int64_t begin, int64_t count,
               LayerValues* values) {
  const int64_t inputs = network.layers[l].inputs;
  float* value = &values->values[l][begin * inputs];
  for (int64_t i = 0; i < count * inputs; ++i) value[i] = std::max(value[i], 0.0f);
}

}  // namespace

Network MakeNetwork(int64_t inputs, int64_t hidden, int64_t classes) {
  Network network;
  if (hidden > 0) network.layers.push_back(MakeLayer(inputs, hidden));
  network.layers.push_back(MakeLayer(hidden > 0 ? hidden : inputs, classes));
  return network;
}

LayerValues::LayerValues(const Network& network, int64_t rows) {
  for (const Layer& layer : network.layers) {
    values.emplace_back(static_cast<size_t>(rows * layer.inputs));
  }
  values.emplace_back(static_cast<size_t>(rows * network.classes()));
}

void Forward(const Network& network, int64_t begin, int64_t count, LayerValues* values) {
  for (size_t l = 0; l < network.layers.size(); ++l) {
    if (l > 0) ApplyRelu(network, l, begin, count, values);
    ApplyLayer(network, l, begin, count, values);
  }
}

void RunNetwork(const Network& network, MatrixView inputs, std::span<const int64_t> rows,
                int threads, std::span<float> keys, std::span<float> logits) {
  std::vector<LayerValues> scratch(static_cast<size_t>(ResolveThreads(threads)),
                                   LayerValues(network, kRowsAPiece));
  const auto copy_rows = [rows](const std::vector<float>& from, int64_t columns, int64_t begin,
                                int64_t end, std::span<float> to) {
    for (int64_t i = begin; i < end && !to.empty(); ++i) {
      std::copy_n(&from[(i - begin) * columns], columns, &to[rows[i] * columns]);
    }
  };
  const int64_t count = static_cast<int64_t>(rows.size());
  ParallelFor(threads, count, kRowsAPiece, [&](int64_t begin, int64_t end, int worker) {
    LayerValues& layers = scratch[worker];
    for (int64_t i = begin; i < end; ++i) {
      network.standardizer.Apply(inputs.row(rows[i]),
                                 &layers.values[0][(i - begin) * network.inputs()]);
    }
    const size_t last = network.layers.size() - 1;
    for (size_t l = 0; l <= last; ++l) {
      if (l == last) copy_rows(layers.values[l], network.key_dim(), begin, end, keys);
      if (l > 0) ApplyRelu(network, l, 0, end - begin, &layers);
      ApplyLayer(network, l, 0, end - begin, &layers);
    }
    copy_rows(layers.values.back(), network.classes(), begin, end, logits);
  });
}

}  // namespace resmem
