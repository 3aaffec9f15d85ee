// A unit on tiles against libtorch's float32 on the same rounded inputs and weights.
#include "train/tile_function.h"

#include <gtest/gtest.h>

#include "kernels/amx.h"
#include "train/networks/layers.h"

namespace resmem::train {
namespace {

torch::Tensor Rounded(const torch::Tensor& t) {
  return t.to(torch::kBFloat16).to(torch::kFloat);
}

// A unit, and what it gave for given inputs and a given gradient.
struct Ran {
  Ran(const ConvNormImpl::Options& options, bool tiles, bool with_shortcut) {
    torch::manual_seed(3);
    ConvNorm unit(options);
    {
      torch::NoGradGuard no_gradient;
      for (torch::Tensor& p : unit->parameters()) p.copy_(Rounded(p + 0.3 * torch::randn_like(p)));
    }
    x = Rounded(torch::randn({6, options.inputs, 9, 10}))
            .contiguous(at::MemoryFormat::ChannelsLast)
            .requires_grad_(options.inputs % 16 == 0);
    const int64_t height = (9 - 1) / options.stride + 1, width = (10 - 1) / options.stride + 1;
    shortcut = Rounded(torch::randn({6, options.outputs, height, width})).requires_grad_(true);
    if (tiles) unit->UseTiles(2);
    y = unit(x, with_shortcut ? shortcut : torch::Tensor()).to(torch::kFloat);
    y.backward(Rounded(torch::randn_like(y)));
    for (const auto& item : unit->named_parameters()) gradients.push_back(item.value().grad());
    for (const auto& item : unit->named_buffers()) running.push_back(item.value());
    if (x.requires_grad()) gradients.push_back(x.grad());
    if (with_shortcut) gradients.push_back(shortcut.grad());
  }
  torch::Tensor x, shortcut, y;
  std::vector<torch::Tensor> gradients, running;
};

double Distance(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

TEST(TileFunction, GivesTheGradientsOfLibtorch) {
  if (!AmxAvailable()) return;
  for (const ConvNormImpl::Options& options :
       {ConvNormImpl::Options{.inputs = 16, .outputs = 32, .stride = 2},
        ConvNormImpl::Options{
            .inputs = 16, .outputs = 32, .stride = 2, .activation = Activation::kNone},
        ConvNormImpl::Options{.inputs = 32, .outputs = 32, .activation = Activation::kNone},
        ConvNormImpl::Options{
            .inputs = 16, .outputs = 48, .kernel = 1, .stride = 2, .activation = Activation::kNone},
        ConvNormImpl::Options{.inputs = 3, .outputs = 16, .activation = Activation::kRelu6}}) {
    for (const bool with_shortcut : {false, true}) {
      SCOPED_TRACE(testing::Message() << options.inputs << " inputs, " << options.outputs
                                      << " outputs, shortcut " << with_shortcut);
      const Ran expected(options, false, with_shortcut), got(options, true, with_shortcut);
      EXPECT_EQ(got.y.sizes(), expected.y.sizes());
      EXPECT_LT(Distance(got.y, expected.y), 0.006);
      ASSERT_EQ(got.gradients.size(), expected.gradients.size());
      for (size_t i = 0; i < got.gradients.size(); ++i) {
        EXPECT_EQ(got.gradients[i].sizes(), expected.gradients[i].sizes());
        // Where rounding moves a value across an activation's edge, its gradient comes or goes.
        EXPECT_LT(Distance(got.gradients[i].to(torch::kFloat), expected.gradients[i]),
                  options.activation == Activation::kNone ? 0.015 : 0.15)
            << i;
      }
      for (size_t i = 0; i < got.running.size(); ++i) {
        EXPECT_LT(Distance(got.running[i], expected.running[i]), 5e-3) << i;
      }
    }
  }
}

}  // namespace
}  // namespace resmem::train
