#include "train/tiles/tile_unit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "support/parallel.h"
#include "train/tiles/conv_tiles.h"
#include "train/tiles/weight_gradient.h"

namespace resmem::train {
namespace {

using Scratch = TileBuffer;

Scratch ScratchOf(const ConvLayout& layout) {
  return Scratch(layout.pixels * layout.shape.inputs);
}

// A batch in groups of images; the last may be smaller.
struct Groups {
  explicit Groups(const TileUnit& unit)
      : size(GroupSize(unit.conv)), count((unit.images + size - 1) / size), images(unit.images) {}
  int64_t size, count, images;

  int64_t first(int64_t group) const { return group * size; }
  int64_t in(int64_t group) const { return std::min(size, images - group * size); }
};

// Added up in order, in double precision.
std::vector<double> SumOfGroups(std::span<const float> sums, int64_t groups) {
  const size_t values = sums.size() / static_cast<size_t>(groups);
  std::vector<double> total(values);
  for (size_t i = 0; i < sums.size(); ++i) total[i % values] += static_cast<double>(sums[i]);
  return total;
}

// The pixels of whole groups and of the last one.
struct PixelMaps {
  PixelMaps(const ConvLayout& layout, const Groups& groups, int64_t height, int64_t width,
            int64_t spread)
      : whole(DensePixels(layout, groups.size, height, width, spread)),
        last(DensePixels(layout, groups.in(groups.count - 1), height, width, spread)),
        last_group(groups.count - 1) {}
  std::span<const int32_t> of(int64_t group) const { return group == last_group ? last : whole; }
  std::vector<int32_t> whole, last;
  int64_t last_group;
};

class Backward {
 public:
  Backward(const TileUnit& unit, std::span<const float> weights, const UnitActivations& activations,
           const UnitGradients& gradients)
      : unit_(unit),
        groups_(unit),
        layout_(unit.conv, groups_.size),
        data_layout_(DataGradientShape(unit.conv), groups_.size),
        activations_(activations),
        gradients_(gradients),
        workers_(static_cast<size_t>(ResolveThreads(unit.threads))) {
    if (gradients.x == nullptr) return;
    const ConvShape& conv = unit.conv;
    data_weights_.emplace(data_layout_, DataGradientWeights(conv, weights));
    data_pixels_.emplace(data_layout_, groups_, conv.height, conv.width, layout_.pick);
  }

  // Sums of g and g * (x - mean).
  std::vector<double> GradientSums(const BatchStatistics& statistics) const;
  void Run(const NormGradient& norm);

 private:
  struct Worker {
    explicit Worker(const ConvLayout& layout) : inputs(ScratchOf(layout)), weights(layout) {}
    Scratch inputs, gradient, spread;
    WeightGradient weights;
  };
  Worker& WorkerOf(int index);
  OutputGradient GradientAt(int64_t value) const {
    return {gradients_.y + value, activations_.open + value / 16};
  }
  // The gradient of the convolution's result in the order of positions, behind a border.
  void ConvolutionGradient(int64_t group, const NormGradient& norm, Scratch& gradient) const;
  int64_t border_values() const {
    return unit_.conv.kernel / 2 * (layout_.pitch + 1) * unit_.conv.outputs;
  }
  void DataGradient(int64_t group, Worker& worker) const;
  const Bfloat16* Spread(int64_t group, Worker& worker) const;

  const TileUnit& unit_;
  Groups groups_;
  ConvLayout layout_, data_layout_;
  const UnitActivations& activations_;
  const UnitGradients& gradients_;
  std::optional<PackedWeights> data_weights_;
  std::optional<PixelMaps> data_pixels_;
  std::vector<std::optional<Worker>> workers_;
};

std::vector<double> Backward::GradientSums(const BatchStatistics& statistics) const {
  const ConvShape& conv = unit_.conv;
  std::vector<float> sums(static_cast<size_t>(groups_.count * 2 * conv.outputs));
  ParallelFor(unit_.threads, groups_.count, 1, [&](int64_t group, int64_t, int) {
    for (int64_t i = 0; i < groups_.in(group); ++i) {
      const int64_t at = (groups_.first(group) + i) * conv.out_values();
      AddGradientSums(GradientAt(at), activations_.convolved + at,
                      conv.out_height() * conv.out_width(), conv.outputs, statistics.mean.data(),
                      sums.data() + group * 2 * conv.outputs);
    }
  });
  return SumOfGroups(sums, groups_.count);
}

Backward::Worker& Backward::WorkerOf(int index) {
  std::optional<Worker>& worker = workers_[static_cast<size_t>(index)];
  if (!worker.has_value()) {
    worker.emplace(layout_);
    const int64_t values = layout_.pixels * unit_.conv.outputs + 2 * border_values();
    worker->gradient = Scratch(std::max(values, data_layout_.pixels * unit_.conv.outputs));
    if (layout_.step == 2) worker->spread = ScratchOf(data_layout_);
  }
  return *worker;
}

void Backward::ConvolutionGradient(int64_t group, const NormGradient& norm,
                                   Scratch& gradient) const {
  const ConvShape& conv = unit_.conv;
  Bfloat16* first = gradient.data() + border_values();
  for (int64_t i = 0; i < groups_.in(group); ++i) {
    for (int64_t y = 0; y < conv.out_height(); ++y) {
      const int64_t at =
          (groups_.first(group) + i) * conv.out_values() + y * conv.out_width() * conv.outputs;
      BackPropagate(GradientAt(at), activations_.convolved + at, conv.out_width(), conv.outputs,
                    norm, first + (i * layout_.positions + y * layout_.pitch) * conv.outputs,
                    gradients_.shortcut == nullptr ? nullptr : gradients_.shortcut + at);
    }
  }
  // What a larger group of this worker left behind.
  std::fill(gradient.data() + border_values() + groups_.in(group)*layout_.positions * conv.outputs,
            gradient.data() + gradient.size(), Bfloat16{0});
}

// The gradient with zeros between its pixels, as a convolution of stride 2 needs it.
const Bfloat16* Backward::Spread(int64_t group, Worker& worker) const {
  const ConvShape& conv = unit_.conv;
  const Bfloat16* from = worker.gradient.data() + border_values();
  for (int64_t i = 0; i < groups_.in(group); ++i) {
    for (int64_t y = 0; y < conv.out_height(); ++y) {
      const Bfloat16* row = from + (i * layout_.positions + y * layout_.pitch) * conv.outputs;
      Bfloat16* to = worker.spread.data() + data_layout_.Row(i, 2 * y) * conv.outputs;
      for (int64_t x = 0; x < conv.out_width(); ++x) {
        std::copy_n(row + x * conv.outputs, conv.outputs, to + 2 * x * conv.outputs);
      }
    }
  }
  return worker.spread.data();
}

void Backward::DataGradient(int64_t group, Worker& worker) const {
  const ConvShape& conv = unit_.conv;
  Bfloat16* to = gradients_.x + groups_.first(group) * conv.in_values();
  if (layout_.pick == 2) std::fill_n(to, groups_.in(group)*conv.in_values(), Bfloat16{0});
  const Bfloat16* from = layout_.step == 2 ? Spread(group, worker) : worker.gradient.data();
  Convolve(data_layout_, from, *data_weights_, data_pixels_->of(group), to, nullptr);
}

void Backward::Run(const NormGradient& norm) {
  const int64_t values = WorkerOf(0).weights.values();
  std::vector<float> sums(static_cast<size_t>(groups_.count * values));
  ParallelFor(unit_.threads, groups_.count, 1, [&](int64_t group, int64_t, int index) {
    Worker& worker = WorkerOf(index);
    ConvolutionGradient(group, norm, worker.gradient);
    if (gradients_.x != nullptr) DataGradient(group, worker);
    layout_.Place(activations_.x + groups_.first(group) * unit_.conv.in_values(), groups_.in(group),
                  worker.inputs.data());
    worker.weights.Add(worker.inputs.data(), worker.gradient.data() + border_values(),
                       groups_.in(group), sums.data() + group * values);
  });
  for (int64_t group = 1; group < groups_.count; ++group) {
    const float* more = sums.data() + group * values;
    for (int64_t i = 0; i < values; ++i) sums[static_cast<size_t>(i)] += more[i];
  }
  WorkerOf(0).weights.Unpack(std::span(sums).first(static_cast<size_t>(values)),
                             gradients_.weights);
}

}  // namespace

BatchStatistics RunForward(const TileUnit& unit, std::span<const float> weights,
                           const NormParameters& norm, double epsilon,
                           const UnitActivations& activations) {
  const ConvShape& conv = unit.conv;
  const Groups groups(unit);
  const ConvLayout layout(conv, groups.size);
  const PackedWeights packed(layout, weights);
  const PixelMaps pixels(layout, groups, conv.out_height(), conv.out_width(), 1);
  const auto channels = static_cast<size_t>(conv.outputs);
  std::vector<float> sums(static_cast<size_t>(groups.count) * 2 * channels);
  std::vector<Scratch> scratch(static_cast<size_t>(ResolveThreads(unit.threads)));
  ParallelFor(unit.threads, groups.count, 1, [&](int64_t group, int64_t, int worker) {
    Scratch& inputs = scratch[static_cast<size_t>(worker)];
    if (inputs.size() == 0) inputs = ScratchOf(layout);
    layout.Place(activations.x + groups.first(group) * conv.in_values(), groups.in(group),
                 inputs.data());
    Convolve(layout, inputs.data(), packed, pixels.of(group),
             activations.convolved + groups.first(group) * conv.out_values(),
             sums.data() + group * 2 * conv.outputs);
  });

  const std::vector<double> total = SumOfGroups(sums, groups.count);
  const auto count = static_cast<double>(unit.images * conv.out_height() * conv.out_width());
  BatchStatistics statistics{std::vector<float>(channels), std::vector<float>(channels)};
  std::vector<float> scale(channels), shift(channels);
  for (size_t c = 0; c < channels; ++c) {
    const double mean = total[c] / count;
    const double variance = std::max(0.0, total[channels + c] / count - mean * mean);
    const double slope = static_cast<double>(norm.weight[c]) / std::sqrt(variance + epsilon);
    statistics.mean[c] = static_cast<float>(mean);
    statistics.variance[c] = static_cast<float>(variance);
    scale[c] = static_cast<float>(slope);
    shift[c] = static_cast<float>(static_cast<double>(norm.bias[c]) - mean * slope);
  }
  ParallelFor(unit.threads, groups.count, 1, [&](int64_t group, int64_t, int) {
    const int64_t at = groups.first(group) * conv.out_values();
    Normalize(activations.convolved + at,
              activations.shortcut == nullptr ? nullptr : activations.shortcut + at,
              groups.in(group)*conv.out_height() * conv.out_width(), conv.outputs, scale.data(),
              shift.data(), unit.clip, activations.y + at, activations.open + at / 16);
  });
  return statistics;
}

void RunBackward(const TileUnit& unit, std::span<const float> weights, const NormParameters& norm,
                 double epsilon, const BatchStatistics& statistics,
                 const UnitActivations& activations, const UnitGradients& gradients) {
  const ConvShape& conv = unit.conv;
  Backward backward(unit, weights, activations, gradients);
  const std::vector<double> sums = backward.GradientSums(statistics);
  const auto channels = static_cast<size_t>(conv.outputs);
  const auto count = static_cast<double>(unit.images * conv.out_height() * conv.out_width());
  std::vector<float> slope(channels), x_slope(channels), shift(channels);
  for (size_t c = 0; c < channels; ++c) {
    const double inverse = 1 / std::sqrt(static_cast<double>(statistics.variance[c]) + epsilon);
    const double weight_gradient = sums[channels + c] * inverse;
    gradients.norm_bias[c] = static_cast<float>(sums[c]);
    gradients.norm_weight[c] = static_cast<float>(weight_gradient);
    // slope * (g - mean of g - normalized x * mean of g * normalized x), sorted by what varies.
    const double a = static_cast<double>(norm.weight[c]) * inverse;
    const double b = -a * inverse * weight_gradient / count;
    slope[c] = static_cast<float>(a);
    x_slope[c] = static_cast<float>(b);
    shift[c] =
        static_cast<float>(-a * sums[c] / count - b * static_cast<double>(statistics.mean[c]));
  }
  backward.Run({slope.data(), x_slope.data(), shift.data()});
}

}  // namespace resmem::train
