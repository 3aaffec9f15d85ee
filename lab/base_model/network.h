// Fully connected layers with ReLU between them.
//
//   values[0]      rows x inputs                  the standardized input
//   values[l]      rows x outputs of layer l - 1  after ReLU: what layer l sees
//   values.back()  rows x classes                 the logits
//
// The key is what the last layer sees, but before ReLU: two rows whose unit is off are not
// equally far from turning it on, and neighbors found with that knowledge correct better
// (docs/decisions/key_of_the_base.md).
// A row's logits do not depend on the rows computed with it (base_model/gemm.h).
#ifndef RESMEM_LAB_BASE_MODEL_NETWORK_H_
#define RESMEM_LAB_BASE_MODEL_NETWORK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base_model/standardizer.h"

namespace resmem {

struct Layer {
  int64_t inputs = 0;
  int64_t outputs = 0;
  std::vector<float> weights;  // inputs x outputs
  std::vector<float> bias;     // outputs
};

struct Network {
  Standardizer standardizer;
  std::vector<Layer> layers;  // one (linear) or two (one hidden layer)

  int64_t inputs() const { return layers.front().inputs; }
  int64_t key_dim() const { return layers.back().inputs; }
  int64_t classes() const { return layers.back().outputs; }
};

// Layers of the right shapes, all zero.  hidden = 0: linear.
Network MakeNetwork(int64_t inputs, int64_t hidden, int64_t classes);

// One matrix for the input of each layer, and the logits.
struct LayerValues {
  std::vector<std::vector<float>> values;
  LayerValues(const Network& network, int64_t rows);
};

// Computes rows [begin, begin + count) of values[1 ..] from values[0].
void Forward(const Network& network, int64_t begin, int64_t count, LayerValues* values);

// Keys and logits of the rows of `inputs` that are named, written at their own row numbers in
// `keys` (all rows x key_dim()) and `logits` (all rows x classes()).  Either may be empty.
void RunNetwork(const Network& network, MatrixView inputs, std::span<const int64_t> rows,
                int threads, std::span<float> keys, std::span<float> logits);

}  // namespace resmem

#endif  // RESMEM_LAB_BASE_MODEL_NETWORK_H_
