// Linear model and multi-layer perceptron, for tables.
#include "train/networks/layers.h"
#include "train/networks/network.h"

namespace resmem::train {
namespace {

class Perceptron : public Network {
 public:
  Perceptron(const std::vector<int64_t>& hidden, const InputShape& input, int64_t classes)
      : dim_(hidden.empty() ? input.channels : hidden.back()) {
    int64_t width = input.channels;
    for (const int64_t units : hidden) {
      layers_.push_back(
          register_module("hidden" + std::to_string(layers_.size()), LinearLayer(width, units)));
      width = units;
    }
    head_ = register_module("head", LinearLayer(width, classes));
  }
  Outputs Forward(torch::Tensor x) override {
    for (LinearLayer& layer : layers_) x = layer(x).relu();
    return {x, head_(x)};
  }
  int64_t dim() const override { return dim_; }
  void Export(OnnxGraph& graph, std::string x) const override {
    for (const LinearLayer& layer : layers_) x = graph.Relu(layer->Export(graph, x));
    graph.Output(x, kEmbeddingName, dim_);
    graph.Output(head_->Export(graph, x), kLogitsName, head_->outputs());
  }

 private:
  int64_t dim_;
  std::vector<LinearLayer> layers_;
  LinearLayer head_{nullptr};
};

}  // namespace

std::shared_ptr<Network> MakePerceptron(const std::vector<int64_t>& hidden, const InputShape& input,
                                        int64_t classes) {
  return std::make_shared<Perceptron>(hidden, input, classes);
}

}  // namespace resmem::train
