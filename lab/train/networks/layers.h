// The layers that the networks are made of: each computes, and exports itself.
#ifndef RESMEM_LAB_TRAIN_NETWORKS_LAYERS_H_
#define RESMEM_LAB_TRAIN_NETWORKS_LAYERS_H_

#include <torch/torch.h>

#include <string>

#include "train/onnx_graph.h"

namespace resmem::train {

enum class Activation { kNone, kRelu, kRelu6 };

// activation(norm(conv(x)) + shortcut), padded so that stride 1 keeps the size.
class ConvNormImpl : public torch::nn::Module {
 public:
  struct Options {
    int64_t inputs = 0, outputs = 0, kernel = 3, stride = 1, groups = 1;
    Activation activation = Activation::kRelu;
  };
  explicit ConvNormImpl(const Options& options);
  // From now on training computes in bf16 on tiles (tile_unit.h); not for groups.
  void UseTiles(int threads) { tile_threads_ = threads; }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& shortcut = {});
  std::string Export(OnnxGraph& graph, const std::string& input,
                     const std::string& shortcut = "") const;

 private:
  Options options_;
  int tile_threads_ = 0;  // 0: no tiles
  torch::Tensor weight_;
  torch::Tensor norm_weight_, norm_bias_, running_mean_, running_variance_;
};
TORCH_MODULE(ConvNorm);

class LinearLayerImpl : public torch::nn::Module {
 public:
  LinearLayerImpl(int64_t inputs, int64_t outputs);
  int64_t outputs() const { return weight_.size(0); }
  torch::Tensor forward(const torch::Tensor& x) { return torch::linear(x, weight_, bias_); }
  std::string Export(OnnxGraph& graph, const std::string& input) const {
    return graph.Linear(input, weight_, bias_);
  }

 private:
  torch::Tensor weight_, bias_;
};
TORCH_MODULE(LinearLayer);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_NETWORKS_LAYERS_H_
