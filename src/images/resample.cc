#include "images/resample.h"

#include <algorithm>
#include <cmath>

namespace resmem {
namespace {

constexpr int kFractionBits = 22;

// The inputs [first, first + weights) of one output, and what each counts.
struct Window {
  int64_t first = 0;
  std::vector<int32_t> weights;  // of kFractionBits; they add up to about 1
};

std::vector<Window> Windows(int64_t input_length, const ResampledSide& side) {
  const double scale = static_cast<double>(input_length) / static_cast<double>(side.length);
  const double support = std::max(scale, 1.0);
  std::vector<Window> windows;
  std::vector<double> weights;
  for (int64_t i = side.begin; i < side.begin + side.count; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<int64_t>(0, static_cast<int64_t>(center - support + 0.5));
    const auto end = std::min(input_length, static_cast<int64_t>(center + support + 0.5));
    double sum = 0;
    weights.clear();
    for (int64_t at = first; at < end; ++at) {
      const double distance = std::abs((static_cast<double>(at) - center + 0.5) * (1.0 / support));
      weights.push_back(distance < 1.0 ? 1.0 - distance : 0.0);
      sum += weights.back();
    }
    Window& window = windows.emplace_back();
    window.first = first;
    for (const double weight : weights) {
      window.weights.push_back(
          static_cast<int32_t>(0.5 + weight / sum * static_cast<double>(1 << kFractionBits)));
    }
  }
  return windows;
}

// One output value: inputs `stride` apart.
uint8_t Weigh(const Window& window, const uint8_t* input, int64_t stride) {
  int32_t sum = 1 << (kFractionBits - 1);  // at most 255 << kFractionBits, about a half of int32
  for (size_t i = 0; i < window.weights.size(); ++i) {
    sum += window.weights[i] * input[static_cast<int64_t>(i) * stride];
  }
  return static_cast<uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

}  // namespace

std::vector<uint8_t> Resample(const Image& image, const ResampledSide& height,
                              const ResampledSide& width) {
  const int64_t channels = image.shape.channels;
  const std::vector<Window> columns = Windows(image.shape.width, width);
  const std::vector<Window> rows = Windows(image.shape.height, height);
  const int64_t first_row = rows.front().first;
  const int64_t end_row = rows.back().first + static_cast<int64_t>(rows.back().weights.size());
  const int64_t row_bytes = width.count * channels;

  // Along the rows, of those input rows that the second pass reads.
  std::vector<uint8_t> between(static_cast<size_t>((end_row - first_row) * row_bytes));
  uint8_t* out = between.data();
  for (int64_t y = first_row; y < end_row; ++y) {
    const uint8_t* line = image.pixels.data() + y * image.shape.width * channels;
    for (const Window& window : columns) {
      for (int64_t channel = 0; channel < channels; ++channel) {
        *out++ = Weigh(window, line + window.first * channels + channel, channels);
      }
    }
  }
  std::vector<uint8_t> resampled(static_cast<size_t>(height.count * row_bytes));
  out = resampled.data();
  for (const Window& window : rows) {
    const uint8_t* column = between.data() + (window.first - first_row) * row_bytes;
    for (int64_t i = 0; i < row_bytes; ++i) *out++ = Weigh(window, column + i, row_bytes);
  }
  return resampled;
}

}  // namespace resmem
