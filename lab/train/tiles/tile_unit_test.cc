// Against plain loops in double precision.
#include "train/tiles/tile_unit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/amx.h"
#include "support/random.h"

namespace resmem::train {
namespace {

using Halves = std::vector<Bfloat16>;
using Doubles = std::vector<double>;

constexpr double kEpsilon = 1e-5;

struct Case {
  ConvShape conv;
  int64_t images = 1;
  bool clips = true, shortcut = true;

  std::string Name() const {
    const ConvShape& c = conv;
    return std::to_string(images) + " images of " + std::to_string(c.height) + " x " +
           std::to_string(c.width) + " x " + std::to_string(c.inputs) + ", outputs " +
           std::to_string(c.outputs) + ", kernel " + std::to_string(c.kernel) + ", stride " +
           std::to_string(c.stride);
  }
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const int64_t kernel : {1, 3}) {
    for (const int64_t stride : {1, 2}) {
      for (const auto& [height, width] : {std::pair<int64_t, int64_t>{7, 5}, {8, 8}, {1, 1}}) {
        for (const auto& [inputs, outputs] :
             {std::pair<int64_t, int64_t>{16, 16}, {16, 32}, {32, 16}, {48, 48}, {64, 64}}) {
          cases.push_back({{height, width, inputs, outputs, kernel, stride}, 5, true, true});
        }
      }
      cases.push_back({{12, 33, 16, 16, kernel, stride}, 9, true, false});
      cases.push_back({{9, 12, 3, 16, kernel, stride}, 11, false, true});
      cases.push_back({{6, 5, 1, 32, kernel, stride}, 2, false, false});
    }
  }
  return cases;
}

Halves RandomHalves(int64_t count, double scale, Random& random) {
  Halves values(static_cast<size_t>(count));
  for (Bfloat16& value : values) value = ToBfloat16(static_cast<float>(scale * random.Normal()));
  return values;
}

// Calls visit(input, weight, output) with the indices of every product of an image.
template <typename Visit>
void EachProduct(const ConvShape& s, Visit&& visit) {
  const int64_t edge = s.kernel / 2;
  for (int64_t y = 0; y < s.out_height(); ++y) {
    for (int64_t x = 0; x < s.out_width(); ++x) {
      for (int64_t ky = 0; ky < s.kernel; ++ky) {
        for (int64_t kx = 0; kx < s.kernel; ++kx) {
          const int64_t in_y = y * s.stride + ky - edge, in_x = x * s.stride + kx - edge;
          if (in_y < 0 || in_x < 0 || in_y >= s.height || in_x >= s.width) continue;
          for (int64_t o = 0; o < s.outputs; ++o) {
            for (int64_t i = 0; i < s.inputs; ++i) {
              visit(static_cast<size_t>((in_y * s.width + in_x) * s.inputs + i),
                    static_cast<size_t>(((o * s.kernel + ky) * s.kernel + kx) * s.inputs + i),
                    static_cast<size_t>((y * s.out_width() + x) * s.outputs + o));
            }
          }
        }
      }
    }
  }
}

// A unit with random contents that has been run forward and back.
struct Ran {
  Ran(const Case& from, int threads) : c(from) {
    const ConvShape& s = c.conv;
    Random random(7);
    const auto channels = static_cast<size_t>(s.outputs);
    x = RandomHalves(c.images * s.in_values(), 1, random);
    dy = RandomHalves(c.images * s.out_values(), 1, random);
    shortcut = RandomHalves(c.images * s.out_values(), 1, random);
    for (const Bfloat16 w : RandomHalves(s.outputs * s.taps() * s.inputs, 0.2, random)) {
      weights.push_back(FromBfloat16(w));
    }
    for (size_t i = 0; i < channels; ++i) {
      norm_weight.push_back(static_cast<float>(random.Normal()));
      norm_bias.push_back(static_cast<float>(random.Normal()));
    }
    convolved.resize(dy.size());
    y.resize(dy.size());
    open.resize(dy.size() / 16);
    dx.resize(x.size(), 0x7fc0);  // NaN: everything must be written
    dshortcut.resize(dy.size(), 0x7fc0);
    dweights.resize(weights.size());
    dnorm_weight.resize(channels);
    dnorm_bias.resize(channels);

    const TileUnit unit{s, c.clips ? Clip{0, 6} : Clip{}, c.images, threads};
    const UnitActivations activations{x.data(), c.shortcut ? shortcut.data() : nullptr,
                                      convolved.data(), open.data(), y.data()};
    statistics = RunForward(unit, weights, {norm_weight, norm_bias}, kEpsilon, activations);
    RunBackward(unit, weights, {norm_weight, norm_bias}, kEpsilon, statistics, activations,
                {dy.data(), s.inputs % 16 == 0 ? dx.data() : nullptr, dshortcut.data(), dweights,
                 dnorm_weight, dnorm_bias});
  }

  Case c;
  Halves x, dy, shortcut, convolved, y, dx, dshortcut;
  std::vector<OpenBits> open;
  std::vector<float> weights, norm_weight, norm_bias, dweights, dnorm_weight, dnorm_bias;
  BatchStatistics statistics;
};

double RootMeanSquare(const Doubles& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double At(const Halves& values, size_t i) {
  return static_cast<double>(FromBfloat16(values[i]));
}
double At(const std::vector<float>& values, size_t i) {
  return static_cast<double>(values[i]);
}

// Each within `share` of its own size and of the typical one.
template <typename Values>
void ExpectNear(const Values& got, const Doubles& expected, double share, const char* what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  const double typical = RootMeanSquare(expected);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(At(got, i), expected[i], share * (std::abs(expected[i]) + typical) + 1e-6)
        << what << " " << i;
  }
}

constexpr double kHalf = 1.0 / 256;  // the rounding of bf16

TEST(TileUnit, ConvolvesAndNormalizesAsPlainLoopsDo) {
  if (!AmxAvailable()) return;
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.Name());
    const Ran ran(c, 2);
    const ConvShape& s = c.conv;
    Doubles convolved(ran.dy.size());
    for (int64_t image = 0; image < c.images; ++image) {
      const auto in = static_cast<size_t>(image * s.in_values());
      const auto out = static_cast<size_t>(image * s.out_values());
      EachProduct(s, [&](size_t i, size_t w, size_t o) {
        convolved[out + o] += At(ran.x, in + i) * static_cast<double>(ran.weights[w]);
      });
    }
    ExpectNear(ran.convolved, convolved, kHalf, "convolved");

    const auto channels = static_cast<size_t>(s.outputs);
    const size_t count = ran.y.size() / channels;
    Doubles mean(channels), variance(channels), y(ran.y.size());
    for (size_t i = 0; i < y.size(); ++i) {
      mean[i % channels] += At(ran.convolved, i) / static_cast<double>(count);
    }
    for (size_t i = 0; i < y.size(); ++i) {
      const double distance = At(ran.convolved, i) - mean[i % channels];
      variance[i % channels] += distance * distance / static_cast<double>(count);
    }
    ExpectNear(ran.statistics.mean, mean, 1e-5, "mean");
    ExpectNear(ran.statistics.variance, variance, 1e-4, "variance");
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t k = i % channels;
      y[i] = (At(ran.convolved, i) - mean[k]) / std::sqrt(variance[k] + kEpsilon) *
                 static_cast<double>(ran.norm_weight[k]) +
             static_cast<double>(ran.norm_bias[k]) + (c.shortcut ? At(ran.shortcut, i) : 0.0);
      if (c.clips) y[i] = std::clamp(y[i], 0.0, 6.0);
    }
    ExpectNear(ran.y, y, kHalf, "y");
  }
}

TEST(TileUnit, PropagatesGradientsAsPlainLoopsDo) {
  if (!AmxAvailable()) return;
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.Name());
    const Ran ran(c, 1);
    const ConvShape& s = c.conv;
    const auto channels = static_cast<size_t>(s.outputs);
    const auto count = static_cast<double>(ran.y.size() / channels);
    Doubles g(ran.y.size()), sum(channels), product(channels), dc(ran.y.size());
    const auto normalized = [&](size_t i) {
      const size_t k = i % channels;
      return (At(ran.convolved, i) - static_cast<double>(ran.statistics.mean[k])) /
             std::sqrt(static_cast<double>(ran.statistics.variance[k]) + kEpsilon);
    };
    for (size_t i = 0; i < g.size(); ++i) {
      const bool open = (ran.open[i / 16] >> i % 16 & 1) == 1;
      const double y = At(ran.y, i);
      // A value just below 6 is open and may still be rounded to it.
      if (y != 6) {
        ASSERT_EQ(open, !c.clips || (y > 0 && y < 6)) << y;
      }
      g[i] = open ? At(ran.dy, i) : 0;
      sum[i % channels] += g[i];
      product[i % channels] += g[i] * normalized(i);
    }
    for (size_t i = 0; i < g.size(); ++i) {
      const size_t k = i % channels;
      const double slope = static_cast<double>(ran.norm_weight[k]) /
                           std::sqrt(static_cast<double>(ran.statistics.variance[k]) + kEpsilon);
      dc[i] = slope * (g[i] - sum[k] / count - normalized(i) * product[k] / count);
      dc[i] = static_cast<double>(FromBfloat16(ToBfloat16(static_cast<float>(dc[i]))));
    }
    ExpectNear(ran.dshortcut, g, 0, "shortcut");
    ExpectNear(ran.dnorm_bias, sum, 1e-4, "norm bias");
    ExpectNear(ran.dnorm_weight, product, 1e-4, "norm weight");
    Doubles dx(ran.dx.size()), dweights(ran.dweights.size());
    for (int64_t image = 0; image < c.images; ++image) {
      const auto in = static_cast<size_t>(image * s.in_values());
      const auto out = static_cast<size_t>(image * s.out_values());
      EachProduct(s, [&](size_t i, size_t w, size_t o) {
        dx[in + i] += dc[out + o] * static_cast<double>(ran.weights[w]);
        dweights[w] += dc[out + o] * At(ran.x, in + i);
      });
    }
    ExpectNear(ran.dweights, dweights, 3 * kHalf, "weights");
    if (s.inputs % 16 == 0) ExpectNear(ran.dx, dx, 3 * kHalf, "x");
  }
}

TEST(TileUnit, GivesTheSameBitsOnAnyNumberOfThreads) {
  if (!AmxAvailable()) return;
  for (const Case& c :
       {Case{{32, 32, 16, 32, 3, 2}, 21, true, true}, Case{{8, 8, 64, 64, 3, 1}, 37, true, true}}) {
    SCOPED_TRACE(c.Name());
    const Ran one(c, 1), three(c, 3);
    EXPECT_EQ(one.y, three.y);
    EXPECT_EQ(one.dx, three.dx);
    EXPECT_EQ(one.dweights, three.dweights);
    EXPECT_EQ(one.dnorm_weight, three.dnorm_weight);
    EXPECT_EQ(one.dnorm_bias, three.dnorm_bias);
  }
}

}  // namespace
}  // namespace resmem::train
