// CIFAR-ResNet (He et al. 2016, section 4.2): 6n + 2 layers, three stages of n blocks with 16, 32
// and 64 channels; where a stage begins, the shortcut is a 1x1 convolution.
#include "train/networks/layers.h"
#include "train/networks/network.h"

namespace resmem::train {
namespace {

class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(int64_t inputs, int64_t outputs, int64_t stride)
      : first_(ConvNormImpl::Options{.inputs = inputs, .outputs = outputs, .stride = stride}),
        second_(ConvNormImpl::Options{.inputs = outputs, .outputs = outputs}) {
    register_module("first", first_);
    register_module("second", second_);
    if (inputs != outputs) {
      shortcut_ = register_module("shortcut",
                                  ConvNorm(ConvNormImpl::Options{.inputs = inputs,
                                                                 .outputs = outputs,
                                                                 .kernel = 1,
                                                                 .stride = stride,
                                                                 .activation = Activation::kNone}));
    }
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return second_(first_(x), shortcut_ ? shortcut_(x) : x);
  }
  std::string Export(OnnxGraph& graph, const std::string& x) const {
    const std::string y = first_->Export(graph, x);
    return second_->Export(graph, y, shortcut_ ? shortcut_->Export(graph, x) : x);
  }

 private:
  ConvNorm first_, second_, shortcut_{nullptr};
};
TORCH_MODULE(Block);

class ResNet : public Network {
 public:
  ResNet(int64_t depth, const InputShape& input, int64_t classes)
      : stem_(ConvNormImpl::Options{.inputs = input.channels, .outputs = 16}),
        head_(kDim, classes) {
    register_module("stem", stem_);
    int64_t channels = 16;
    for (int64_t stage = 0; stage < 3; ++stage) {
      for (int64_t block = 0; block < (depth - 2) / 6; ++block) {
        const int64_t outputs = int64_t{16} << stage;
        blocks_.push_back(register_module("block" + std::to_string(blocks_.size()),
                                          Block(channels, outputs, channels == outputs ? 1 : 2)));
        channels = outputs;
      }
    }
    register_module("head", head_);
  }
  Outputs Forward(torch::Tensor x) override {
    x = stem_(x);
    for (Block& block : blocks_) x = block(x);
    x = x.to(torch::kFloat).mean({2, 3});
    return {x, head_(x)};
  }
  bool UseTiles(int threads) override {
    apply([threads](torch::nn::Module& module) {
      if (auto* unit = module.as<ConvNormImpl>()) unit->UseTiles(threads);
    });
    return true;
  }
  int64_t dim() const override { return kDim; }
  void Export(OnnxGraph& graph, std::string x) const override {
    x = stem_->Export(graph, x);
    for (const Block& block : blocks_) x = block->Export(graph, x);
    x = graph.GlobalAveragePool(x);
    graph.Output(x, kEmbeddingName, kDim);
    graph.Output(head_->Export(graph, x), kLogitsName, head_->outputs());
  }

 private:
  static constexpr int64_t kDim = 64;
  ConvNorm stem_;
  std::vector<Block> blocks_;
  LinearLayer head_;
};

}  // namespace

std::shared_ptr<Network> MakeResNet(int64_t depth, const InputShape& input, int64_t classes) {
  return std::make_shared<ResNet>(depth, input, classes);
}

}  // namespace resmem::train
