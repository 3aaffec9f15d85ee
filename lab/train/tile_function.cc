#include "train/tile_function.h"

#include <algorithm>

#include "support/check.h"
#include "train/tiles/tile_unit.h"

namespace resmem::train {

#if defined(__x86_64__)
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Settings {
  int64_t stride;
  Clip clip;
  int threads;
  double momentum, epsilon;
  Tensor running_mean, running_variance;
};

// Images x height x width x channels, dense.
Tensor ChannelsLast(const Tensor& t) {
  return t.permute({0, 2, 3, 1}).contiguous();
}
Tensor NewImages(const TileUnit& unit, int64_t height, int64_t width, int64_t channels) {
  return torch::empty({unit.images, height, width, channels}, torch::kBFloat16)
      .permute({0, 3, 1, 2});
}
Bfloat16* Halves(const Tensor& t) {
  return t.defined() ? reinterpret_cast<Bfloat16*>(t.data_ptr<at::BFloat16>()) : nullptr;
}
OpenBits* Bits(const Tensor& t) {
  return reinterpret_cast<OpenBits*>(t.data_ptr<int16_t>());
}
std::span<float> Floats(const Tensor& t) {
  return {t.data_ptr<float>(), static_cast<size_t>(t.numel())};
}

TileUnit UnitOf(const Tensor& x, const Tensor& weight, const Settings& settings) {
  const ConvShape conv{x.size(2),      x.size(3),      x.size(1),
                       weight.size(0), weight.size(2), settings.stride};
  return {conv, settings.clip, x.size(0), settings.threads};
}

void MoveRunning(const BatchStatistics& statistics, int64_t count, const Settings& settings) {
  const auto momentum = static_cast<float>(settings.momentum);
  const float unbiased =
      static_cast<float>(count) / static_cast<float>(std::max<int64_t>(1, count - 1));
  const std::span<float> mean = Floats(settings.running_mean);
  const std::span<float> variance = Floats(settings.running_variance);
  for (size_t c = 0; c < mean.size(); ++c) {
    mean[c] += momentum * (statistics.mean[c] - mean[c]);
    variance[c] += momentum * (statistics.variance[c] * unbiased - variance[c]);
  }
}

class Function : public torch::autograd::Function<Function> {
 public:
  // No shortcut is an empty tensor: libtorch 1.13 takes no undefined one here.
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& norm_weight, const Tensor& norm_bias, const Tensor& shortcut,
                        const Settings& settings) {
    const TileUnit unit = UnitOf(x, weight, settings);
    const ConvShape& conv = unit.conv;
    const Tensor inputs = ChannelsLast(x), weights = ChannelsLast(weight);
    const Tensor added = shortcut.numel() > 0 ? ChannelsLast(shortcut) : Tensor();
    const Tensor convolved = NewImages(unit, conv.out_height(), conv.out_width(), conv.outputs);
    const Tensor y = NewImages(unit, conv.out_height(), conv.out_width(), conv.outputs);
    const Tensor open = torch::empty({y.numel() / 16}, torch::kShort);
    const BatchStatistics statistics = RunForward(
        unit, Floats(weights), {Floats(norm_weight), Floats(norm_bias)}, settings.epsilon,
        {Halves(inputs), Halves(added), Halves(convolved), Bits(open), Halves(y)});
    MoveRunning(statistics, unit.images * conv.out_height() * conv.out_width(), settings);
    context->save_for_backward({x, weight, norm_weight, norm_bias, convolved, open,
                                torch::tensor(statistics.mean),
                                torch::tensor(statistics.variance)});
    context->saved_data["stride"] = settings.stride;
    context->saved_data["low"] = static_cast<double>(settings.clip.low);
    context->saved_data["high"] = static_cast<double>(settings.clip.high);
    context->saved_data["threads"] = int64_t{settings.threads};
    context->saved_data["epsilon"] = settings.epsilon;
    context->saved_data["shortcut"] = shortcut.numel() > 0 && shortcut.requires_grad();
    context->saved_data["x"] = x.requires_grad();
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &convolved = saved[4], &open = saved[5];
    auto& data = context->saved_data;
    const Settings settings{
        data["stride"].toInt(),
        {static_cast<float>(data["low"].toDouble()), static_cast<float>(data["high"].toDouble())},
        static_cast<int>(data["threads"].toInt()),
        0,
        data["epsilon"].toDouble(),
        {},
        {}};
    const TileUnit unit = UnitOf(x, weight, settings);
    const ConvShape& conv = unit.conv;
    const Tensor inputs = ChannelsLast(x), weights = ChannelsLast(weight);
    const Tensor dy = ChannelsLast(gradients[0]);
    const Tensor dweight =
        torch::empty({conv.outputs, conv.kernel, conv.kernel, conv.inputs}).permute({0, 3, 1, 2});
    const Tensor dnorm_weight = torch::empty({conv.outputs});
    const Tensor dnorm_bias = torch::empty({conv.outputs});
    Tensor dx, dshortcut;
    if (data["x"].toBool()) dx = NewImages(unit, conv.height, conv.width, conv.inputs);
    if (data["shortcut"].toBool()) {
      dshortcut = NewImages(unit, conv.out_height(), conv.out_width(), conv.outputs);
    }
    const BatchStatistics statistics{{Floats(saved[6]).begin(), Floats(saved[6]).end()},
                                     {Floats(saved[7]).begin(), Floats(saved[7]).end()}};
    RunBackward(unit, Floats(weights), {Floats(saved[2]), Floats(saved[3])}, settings.epsilon,
                statistics, {Halves(inputs), nullptr, Halves(convolved), Bits(open), nullptr},
                {Halves(dy), Halves(dx), Halves(dshortcut), Floats(dweight), Floats(dnorm_weight),
                 Floats(dnorm_bias)});
    return {dx, dweight, dnorm_weight, dnorm_bias, dshortcut, Tensor()};
  }
};

}  // namespace

torch::Tensor ConvNormOnTiles(const torch::Tensor& x, const torch::Tensor& weight,
                              const TileNorm& norm, const torch::Tensor& shortcut, int64_t stride,
                              const Clip& clip, int threads) {
  const Settings settings{
      stride, clip, threads, norm.momentum, norm.epsilon, norm.running_mean, norm.running_variance};
  return Function::apply(x.to(torch::kBFloat16), weight, norm.weight, norm.bias,
                         shortcut.defined() ? shortcut.to(torch::kBFloat16) : torch::empty({0}),
                         settings);
}

#else

torch::Tensor ConvNormOnTiles(const torch::Tensor& x, const torch::Tensor&, const TileNorm&,
                              const torch::Tensor&, int64_t, const Clip&, int) {
  RESMEM_DCHECK(false);  // AmxActive() is never true
  return x;
}

#endif

}  // namespace resmem::train
