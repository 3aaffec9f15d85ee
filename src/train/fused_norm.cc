#include "train/fused_norm.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

// Compiled for each instruction set, chosen when the program starts.
#define RESMEM_EACH_TARGET __attribute__((target_clones("avx512f", "avx2", "default")))

namespace resmem::train {
namespace {

using torch::Tensor;

constexpr int64_t kPieceValues = int64_t{1} << 15;  // stays in the first-level caches
constexpr int64_t kMostChannels = 4096;

// One piece: `rows` positions of `channels` values.
struct Piece {
  const float* x;
  int64_t rows, channels;
};

// Sum and sum of squared deviations from the piece's own mean: no cancellation.
RESMEM_EACH_TARGET
void PieceMoments(Piece p, float* __restrict sum, float* __restrict squares) {
  for (int64_t c = 0; c < p.channels; ++c) sum[c] = squares[c] = 0;
  for (int64_t r = 0; r < p.rows; ++r) {
    const float* __restrict x = p.x + r * p.channels;
    for (int64_t c = 0; c < p.channels; ++c) sum[c] += x[c];
  }
  const float scale = 1.0f / static_cast<float>(p.rows);
  for (int64_t r = 0; r < p.rows; ++r) {
    const float* __restrict x = p.x + r * p.channels;
    for (int64_t c = 0; c < p.channels; ++c) {
      const float d = x[c] - sum[c] * scale;
      squares[c] += d * d;
    }
  }
}

RESMEM_EACH_TARGET
void ScaleShift(Piece p, const float* __restrict scale, const float* __restrict shift,
                const float* shortcut, float low, float high, float* out) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const float* __restrict x = p.x + r * p.channels;
    float* __restrict y = out + r * p.channels;
    if (shortcut != nullptr) {
      const float* __restrict s = shortcut + r * p.channels;
      for (int64_t c = 0; c < p.channels; ++c) {
        const float v = x[c] * scale[c] + shift[c] + s[c];
        y[c] = std::min(std::max(v, low), high);
      }
    } else {
      for (int64_t c = 0; c < p.channels; ++c) {
        const float v = x[c] * scale[c] + shift[c];
        y[c] = std::min(std::max(v, low), high);
      }
    }
  }
}

// The gradient before the activation, summed alone and times x - mean.
RESMEM_EACH_TARGET
void PieceGradientSums(Piece p, const float* y_in, const float* dy_in, float low, float high,
                       const float* __restrict mean, float* __restrict sum,
                       float* __restrict product) {
  for (int64_t c = 0; c < p.channels; ++c) sum[c] = product[c] = 0;
  for (int64_t r = 0; r < p.rows; ++r) {
    const float* __restrict x = p.x + r * p.channels;
    const float* __restrict y = y_in + r * p.channels;
    const float* __restrict dy = dy_in + r * p.channels;
    for (int64_t c = 0; c < p.channels; ++c) {
      const float g = y[c] > low && y[c] < high ? dy[c] : 0.0f;
      sum[c] += g;
      product[c] += g * (x[c] - mean[c]);
    }
  }
}

// dx = scale * (g - a - b * (x - mean)); the gradient g itself goes to the shortcut.
RESMEM_EACH_TARGET
void InputGradient(Piece p, const float* y_in, const float* dy_in, float low, float high,
                   const float* __restrict mean, const float* __restrict scale,
                   const float* __restrict a, const float* __restrict b, float* dx_out,
                   float* g_out) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const float* __restrict x = p.x + r * p.channels;
    const float* __restrict y = y_in + r * p.channels;
    const float* __restrict dy = dy_in + r * p.channels;
    float* __restrict dx = dx_out + r * p.channels;
    if (g_out != nullptr) {
      float* __restrict g_row = g_out + r * p.channels;
      for (int64_t c = 0; c < p.channels; ++c) {
        const float g = y[c] > low && y[c] < high ? dy[c] : 0.0f;
        g_row[c] = g;
        dx[c] = scale[c] * (g - a[c] - b[c] * (x[c] - mean[c]));
      }
    } else {
      for (int64_t c = 0; c < p.channels; ++c) {
        const float g = y[c] > low && y[c] < high ? dy[c] : 0.0f;
        dx[c] = scale[c] * (g - a[c] - b[c] * (x[c] - mean[c]));
      }
    }
  }
}

struct Limits {
  float low, high;
};
Limits LimitsOf(Activation activation) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (activation) {
    case Activation::kRelu:
      return {0, kInfinity};
    case Activation::kRelu6:
      return {0, 6};
    case Activation::kNone:
      break;
  }
  return {-kInfinity, kInfinity};
}

// A tensor of n x channels x height x width in channels-last order as rows of channels.
struct Rows {
  int64_t rows, channels, piece_rows, pieces;

  explicit Rows(const Tensor& x)
      : rows(x.numel() / x.size(1)),
        channels(x.size(1)),
        piece_rows(std::max<int64_t>(1, kPieceValues / channels)),
        pieces((rows + piece_rows - 1) / piece_rows) {}
  Piece At(const float* x, int64_t piece) const {
    const int64_t begin = piece * piece_rows;
    return {x + begin * channels, std::min(piece_rows, rows - begin), channels};
  }
  int64_t Offset(int64_t piece) const { return piece * piece_rows * channels; }
};

Tensor ChannelsLast(const Tensor& x) {
  return x.contiguous(at::MemoryFormat::ChannelsLast);
}

class FusedNormFunction : public torch::autograd::Function<FusedNormFunction> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, Tensor x, const Tensor& weight,
                        const Tensor& bias, Tensor running_mean, Tensor running_variance,
                        double momentum, double epsilon, Tensor shortcut, int64_t activation) {
    x = ChannelsLast(x);
    if (shortcut.defined()) shortcut = ChannelsLast(shortcut);
    const Rows rows(x);
    const int64_t channels = rows.channels;
    std::vector<float> sums(static_cast<size_t>(2 * rows.pieces * channels));
    const float* in = x.data_ptr<float>();
    at::parallel_for(0, rows.pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float* sum = sums.data() + 2 * i * channels;
        PieceMoments(rows.At(in, i), sum, sum + channels);
      }
    });
    Tensor mean = torch::empty({channels}), inverse = torch::empty({channels});
    Tensor scale = torch::empty({channels}), shift = torch::empty({channels});
    const double n = static_cast<double>(rows.rows);
    for (int64_t c = 0; c < channels; ++c) {
      double total = 0, squares = 0;
      for (int64_t i = 0; i < rows.pieces; ++i) {
        total += double{sums[static_cast<size_t>(2 * i * channels + c)]};
      }
      const double center = total / n;
      for (int64_t i = 0; i < rows.pieces; ++i) {
        const double piece_rows = static_cast<double>(rows.At(in, i).rows);
        const double offset =
            double{sums[static_cast<size_t>(2 * i * channels + c)]} / piece_rows - center;
        squares += double{sums[static_cast<size_t>((2 * i + 1) * channels + c)]} +
                   piece_rows * offset * offset;
      }
      const double variance = squares / n;
      const double inverse_deviation = 1.0 / std::sqrt(variance + epsilon);
      const double gain = double{weight.data_ptr<float>()[c]} * inverse_deviation;
      mean.data_ptr<float>()[c] = static_cast<float>(center);
      inverse.data_ptr<float>()[c] = static_cast<float>(inverse_deviation);
      scale.data_ptr<float>()[c] = static_cast<float>(gain);
      shift.data_ptr<float>()[c] =
          static_cast<float>(double{bias.data_ptr<float>()[c]} - gain * center);
      float& moved_mean = running_mean.data_ptr<float>()[c];
      float& moved_variance = running_variance.data_ptr<float>()[c];
      const double unbiased = squares / std::max(1.0, n - 1);
      moved_mean += static_cast<float>(momentum * (center - double{moved_mean}));
      moved_variance += static_cast<float>(momentum * (unbiased - double{moved_variance}));
    }
    Tensor y = torch::empty_like(x);
    const Limits limits = LimitsOf(static_cast<Activation>(activation));
    const float* added = shortcut.defined() ? shortcut.data_ptr<float>() : nullptr;
    float* out = y.data_ptr<float>();
    at::parallel_for(0, rows.pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        ScaleShift(rows.At(in, i), scale.data_ptr<float>(), shift.data_ptr<float>(),
                   added == nullptr ? nullptr : added + rows.Offset(i), limits.low, limits.high,
                   out + rows.Offset(i));
      }
    });
    context->save_for_backward({x, y, mean, inverse, scale});
    context->saved_data["activation"] = activation;
    context->saved_data["shortcut"] = shortcut.defined();
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &y = saved[1], &mean = saved[2], &inverse = saved[3],
                 &scale = saved[4];
    const Tensor dy = ChannelsLast(gradients[0]);
    const Limits limits =
        LimitsOf(static_cast<Activation>(context->saved_data["activation"].toInt()));
    const Rows rows(x);
    const int64_t channels = rows.channels;
    std::vector<float> sums(static_cast<size_t>(2 * rows.pieces * channels));
    const float *in = x.data_ptr<float>(), *out = y.data_ptr<float>(), *up = dy.data_ptr<float>();
    at::parallel_for(0, rows.pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float* sum = sums.data() + 2 * i * channels;
        PieceGradientSums(rows.At(in, i), out + rows.Offset(i), up + rows.Offset(i), limits.low,
                          limits.high, mean.data_ptr<float>(), sum, sum + channels);
      }
    });
    Tensor weight_gradient = torch::empty({channels}), bias_gradient = torch::empty({channels});
    std::vector<float> a(static_cast<size_t>(channels)), b(static_cast<size_t>(channels));
    const double n = static_cast<double>(rows.rows);
    for (int64_t c = 0; c < channels; ++c) {
      double total = 0, product = 0;
      for (int64_t i = 0; i < rows.pieces; ++i) {
        total += double{sums[static_cast<size_t>(2 * i * channels + c)]};
        product += double{sums[static_cast<size_t>((2 * i + 1) * channels + c)]};
      }
      const double deviation = double{inverse.data_ptr<float>()[c]};
      weight_gradient.data_ptr<float>()[c] = static_cast<float>(product * deviation);
      bias_gradient.data_ptr<float>()[c] = static_cast<float>(total);
      a[static_cast<size_t>(c)] = static_cast<float>(total / n);
      b[static_cast<size_t>(c)] = static_cast<float>(product / n * deviation * deviation);
    }
    Tensor dx = torch::empty_like(x);
    Tensor shortcut_gradient;
    if (context->saved_data["shortcut"].toBool()) shortcut_gradient = torch::empty_like(x);
    float* passed = shortcut_gradient.defined() ? shortcut_gradient.data_ptr<float>() : nullptr;
    at::parallel_for(0, rows.pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t offset = rows.Offset(i);
        InputGradient(rows.At(in, i), out + offset, up + offset, limits.low, limits.high,
                      mean.data_ptr<float>(), scale.data_ptr<float>(), a.data(), b.data(),
                      dx.data_ptr<float>() + offset, passed == nullptr ? nullptr : passed + offset);
      }
    });
    return {dx,       weight_gradient, bias_gradient,     Tensor(), Tensor(),
            Tensor(), Tensor(),        shortcut_gradient, Tensor()};
  }
};

}  // namespace

Tensor FusedNorm(const Tensor& x, const NormState& norm, bool training, const Tensor& shortcut,
                 Activation activation) {
  const bool ours = training && x.device().is_cpu() && x.scalar_type() == torch::kFloat &&
                    x.dim() == 4 && x.size(1) <= kMostChannels;
  if (ours) {
    return FusedNormFunction::apply(x, norm.weight, norm.bias, norm.running_mean,
                                    norm.running_variance, norm.momentum, norm.epsilon, shortcut,
                                    static_cast<int64_t>(activation));
  }
  Tensor y = torch::batch_norm(x, norm.weight, norm.bias, norm.running_mean, norm.running_variance,
                               training, norm.momentum, norm.epsilon, /*cudnn_enabled=*/true);
  if (shortcut.defined()) y = y + shortcut;
  if (activation == Activation::kRelu) return y.relu();
  if (activation == Activation::kRelu6) return y.clamp(0, 6);
  return y;
}

}  // namespace resmem::train
