#include "models/network.h"

#include <algorithm>

#include "kernels/gemm.h"
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
    const Layer& layer = network.layers[l];
    const bool last = l + 1 == network.layers.size();
    float* out = &values->values[l + 1][begin * layer.outputs];
    Multiply(count, layer.outputs, layer.inputs,
             {&values->values[l][begin * layer.inputs], layer.inputs, 1}, layer.weights.data(),
             layer.outputs, out, layer.outputs);
    for (int64_t row = 0; row < count; ++row, out += layer.outputs) {
      for (int64_t o = 0; o < layer.outputs; ++o) {
        const float sum = out[o] + layer.bias[o];
        out[o] = last ? sum : std::max(sum, 0.0f);
      }
    }
  }
}

void RunNetwork(const Network& network, MatrixView inputs, std::span<const int64_t> rows,
                int threads, std::span<float> keys, std::span<float> logits) {
  std::vector<LayerValues> scratch(static_cast<size_t>(ResolveThreads(threads)),
                                   LayerValues(network, kRowsAPiece));
  const auto copy_row = [](const std::vector<float>& from, int64_t from_row, int64_t columns,
                           std::span<float> to, int64_t to_row) {
    if (!to.empty()) std::copy_n(&from[from_row * columns], columns, &to[to_row * columns]);
  };
  const int64_t count = static_cast<int64_t>(rows.size());
  ParallelFor(threads, count, kRowsAPiece, [&](int64_t begin, int64_t end, int worker) {
    LayerValues& layers = scratch[worker];
    for (int64_t i = begin; i < end; ++i) {
      network.standardizer.Apply(inputs.row(rows[i]),
                                 &layers.values[0][(i - begin) * network.inputs()]);
    }
    Forward(network, 0, end - begin, &layers);
    for (int64_t i = begin; i < end; ++i) {
      copy_row(layers.values[network.layers.size() - 1], i - begin, network.key_dim(), keys,
               rows[i]);
      copy_row(layers.values.back(), i - begin, network.classes(), logits, rows[i]);
    }
  });
}

}  // namespace resmem
