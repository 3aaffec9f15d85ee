// MobileNet-V2 (Sandler et al. 2018, table 2).  Images of fewer than 64 pixels keep their size
// through the stem and the second stage, as CIFAR versions of it do.
#include <algorithm>

#include "train/networks/layers.h"
#include "train/networks/network.h"

namespace resmem::train {
namespace {

// A multiple of 8, at most a tenth below `channels`.
int64_t Scaled(double channels) {
  const int64_t rounded = std::max<int64_t>(8, static_cast<int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

class InvertedResidualImpl : public torch::nn::Module {
 public:
  InvertedResidualImpl(int64_t inputs, int64_t outputs, int64_t stride, int64_t expansion)
      : adds_(stride == 1 && inputs == outputs) {
    const int64_t inner = inputs * expansion;
    if (expansion != 1) {
      expand_ = register_module(
          "expand",
          ConvNorm(ConvNormImpl::Options{
              .inputs = inputs, .outputs = inner, .kernel = 1, .activation = Activation::kRelu6}));
    }
    depthwise_ = register_module("depthwise",
                                 ConvNorm(ConvNormImpl::Options{.inputs = inner,
                                                                .outputs = inner,
                                                                .stride = stride,
                                                                .groups = inner,
                                                                .activation = Activation::kRelu6}));
    project_ = register_module(
        "project",
        ConvNorm(ConvNormImpl::Options{
            .inputs = inner, .outputs = outputs, .kernel = 1, .activation = Activation::kNone}));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor inner = expand_ ? expand_(x) : x;
    return project_(depthwise_(inner), adds_ ? x : torch::Tensor());
  }
  std::string Export(OnnxGraph& graph, const std::string& x) const {
    const std::string inner = expand_ ? expand_->Export(graph, x) : x;
    return project_->Export(graph, depthwise_->Export(graph, inner), adds_ ? x : "");
  }

 private:
  bool adds_;
  ConvNorm expand_{nullptr}, depthwise_{nullptr}, project_{nullptr};
};
TORCH_MODULE(InvertedResidual);

class MobileNet : public Network {
 public:
  MobileNet(double width, const InputShape& input, int64_t classes) {
    struct Stage {
      int64_t expansion, channels, blocks, stride;
    };
    constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                 {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    const bool small = std::min(input.height, input.width) < 64;
    int64_t channels = Scaled(32 * width);
    stem_ =
        register_module("stem", ConvNorm(ConvNormImpl::Options{.inputs = input.channels,
                                                               .outputs = channels,
                                                               .stride = small ? 1 : 2,
                                                               .activation = Activation::kRelu6}));
    for (const Stage& stage : kStages) {
      const int64_t outputs = Scaled(static_cast<double>(stage.channels) * width);
      for (int64_t block = 0; block < stage.blocks; ++block) {
        const bool shrinks = block == 0 && !(small && stage.channels == 24);
        blocks_.push_back(register_module(
            "block" + std::to_string(blocks_.size()),
            InvertedResidual(channels, outputs, shrinks ? stage.stride : 1, stage.expansion)));
        channels = outputs;
      }
    }
    dim_ = Scaled(1280 * std::max(1.0, width));
    last_ = register_module(
        "last",
        ConvNorm(ConvNormImpl::Options{
            .inputs = channels, .outputs = dim_, .kernel = 1, .activation = Activation::kRelu6}));
    head_ = register_module("head", LinearLayer(dim_, classes));
  }
  Outputs Forward(torch::Tensor x) override {
    x = stem_(x);
    for (InvertedResidual& block : blocks_) x = block(x);
    x = last_(x).mean({2, 3});
    return {x, head_(x)};
  }
  int64_t dim() const override { return dim_; }
  void Export(OnnxGraph& graph, std::string x) const override {
    x = stem_->Export(graph, x);
    for (const InvertedResidual& block : blocks_) x = block->Export(graph, x);
    x = graph.GlobalAveragePool(last_->Export(graph, x));
    graph.Output(x, kEmbeddingName, dim_);
    graph.Output(head_->Export(graph, x), kLogitsName, head_->outputs());
  }

 private:
  int64_t dim_ = 0;
  ConvNorm stem_{nullptr}, last_{nullptr};
  std::vector<InvertedResidual> blocks_;
  LinearLayer head_{nullptr};
};

}  // namespace

std::shared_ptr<Network> MakeMobileNet(double width, const InputShape& input, int64_t classes) {
  return std::make_shared<MobileNet>(width, input, classes);
}

}  // namespace resmem::train
