#include "train/networks/layers.h"

#include <cmath>

#include "train/tile_function.h"

namespace resmem::train {
namespace {

constexpr double kNormMomentum = 0.1, kNormEpsilon = 1e-5;

Clip ClipOf(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return {.low = 0};
    case Activation::kRelu6:
      return {.low = 0, .high = 6};
    case Activation::kNone:
      break;
  }
  return {};
}

}  // namespace

ConvNormImpl::ConvNormImpl(const Options& options) : options_(options) {
  torch::Tensor weight = torch::empty(
      {options.outputs, options.inputs / options.groups, options.kernel, options.kernel});
  torch::nn::init::kaiming_normal_(weight, 0.0, torch::kFanOut, torch::kReLU);
  weight_ = register_parameter("weight", weight.contiguous(at::MemoryFormat::ChannelsLast));
  norm_weight_ = register_parameter("norm_weight", torch::ones({options.outputs}));
  norm_bias_ = register_parameter("norm_bias", torch::zeros({options.outputs}));
  running_mean_ = register_buffer("running_mean", torch::zeros({options.outputs}));
  running_variance_ = register_buffer("running_variance", torch::ones({options.outputs}));
}

torch::Tensor ConvNormImpl::forward(const torch::Tensor& x, const torch::Tensor& shortcut) {
  if (tile_threads_ > 0 && is_training()) {
    return ConvNormOnTiles(
        x, weight_,
        {norm_weight_, norm_bias_, running_mean_, running_variance_, kNormMomentum, kNormEpsilon},
        shortcut, options_.stride, ClipOf(options_.activation), tile_threads_);
  }
  const torch::Tensor convolved = torch::conv2d(
      x, weight_, {}, options_.stride, options_.kernel / 2, /*dilation=*/1, options_.groups);
  torch::Tensor y =
      torch::batch_norm(convolved, norm_weight_, norm_bias_, running_mean_, running_variance_,
                        is_training(), kNormMomentum, kNormEpsilon, /*cudnn_enabled=*/true);
  // In place: backward needs neither the sum before the shortcut nor the one before the activation.
  if (shortcut.defined()) y.add_(shortcut);
  if (options_.activation == Activation::kRelu) y.relu_();
  if (options_.activation == Activation::kRelu6) y.clamp_(0, 6);
  return y;
}

std::string ConvNormImpl::Export(OnnxGraph& graph, const std::string& input,
                                 const std::string& shortcut) const {
  torch::NoGradGuard no_gradient;
  const torch::Tensor scale = norm_weight_.to(torch::kDouble) /
                              (running_variance_.to(torch::kDouble) + kNormEpsilon).sqrt();
  const torch::Tensor weight = weight_.to(torch::kDouble) * scale.view({-1, 1, 1, 1});
  const torch::Tensor bias =
      norm_bias_.to(torch::kDouble) - running_mean_.to(torch::kDouble) * scale;
  std::string value =
      graph.Conv(input, weight, bias, options_.stride, options_.kernel / 2, options_.groups);
  if (!shortcut.empty()) value = graph.Add(value, shortcut);
  if (options_.activation == Activation::kRelu) return graph.Relu(value);
  if (options_.activation == Activation::kRelu6) return graph.Relu6(value);
  return value;
}

LinearLayerImpl::LinearLayerImpl(int64_t inputs, int64_t outputs) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(inputs));
  weight_ = register_parameter("weight", torch::empty({outputs, inputs}).uniform_(-bound, bound));
  bias_ = register_parameter("bias", torch::zeros({outputs}));
}

}  // namespace resmem::train
