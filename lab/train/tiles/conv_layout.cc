#include "train/tiles/conv_layout.h"

#include <algorithm>
#include <cstring>

namespace resmem::train {
namespace {

constexpr int64_t kMostImages = 8;
constexpr int64_t kGroupBytes = 1 << 18;  // a few such buffers fit the second cache
constexpr int64_t kTileValues = 32;

int64_t RoundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

ConvLayout::ConvLayout(const ConvShape& conv, int64_t group) : shape(conv), images(group) {
  const int64_t edge = shape.kernel / 2;
  (edge == 0 ? pick : step) = shape.stride;
  pitch = shape.out_width() + edge;
  // Even for pairs(), here and in the data gradient's layout, which reads the same scratch.
  if (edge == 1 && std::min(shape.inputs, shape.outputs) <= 16) pitch += pitch % 2;
  positions = (shape.out_height() + edge) * pitch;
  tap_row[1] = step == 1 ? pitch : step * images * positions;
  tap_row[2] = 2 * pitch;
  // A tile's row reads up to 32 values, of as many pixels where there is one channel.
  pixels = RoundUp(RoundUp(images * positions, kPositionBlock) * step +
                       edge * std::max(tap_row[1], tap_row[2]) + shape.kernel + kTileValues,
                   kTileValues * step);
}

int64_t ConvLayout::Row(int64_t image, int64_t y) const {
  const int64_t edge = shape.kernel / 2;
  const int64_t first = image * (shape.out_height() + edge), padded = y + edge;
  if (step == 1) return (first + padded) * pitch + edge;
  return (padded % 2) * tap_row[1] + (first + padded / 2) * 2 * pitch + edge;
}

void ConvLayout::Place(const Bfloat16* from, int64_t count, Bfloat16* scratch) const {
  const int64_t channels = shape.inputs;
  for (int64_t image = 0; image < count; ++image) {
    for (int64_t y = 0; y < shape.height; y += pick) {
      const Bfloat16* row = from + (image * shape.height + y) * shape.width * channels;
      Bfloat16* to = scratch + Row(image, y / pick) * channels;
      const int64_t run = pick == 1 ? shape.width : 1;
      for (int64_t x = 0; x < shape.width; x += run * pick, to += run * channels) {
        std::memcpy(to, row + x * channels, static_cast<size_t>(run * channels) * sizeof(*to));
      }
    }
  }
}

std::vector<int32_t> DensePixels(const ConvLayout& layout, int64_t count, int64_t height,
                                 int64_t width, int64_t spread) {
  std::vector<int32_t> pixels(
      static_cast<size_t>(RoundUp(count * layout.positions, kPositionBlock)), -1);
  for (int64_t image = 0; image < count; ++image) {
    for (int64_t y = 0; y < layout.shape.out_height(); ++y) {
      int32_t* row = pixels.data() + image * layout.positions + y * layout.pitch;
      for (int64_t x = 0; x < layout.shape.out_width(); ++x) {
        row[x] = static_cast<int32_t>((image * height + y * spread) * width + x * spread);
      }
    }
  }
  return pixels;
}

int64_t GroupSize(const ConvShape& shape) {
  const int64_t bytes = 2 * (shape.height + 1) * (shape.width + 1) *
                        std::max(shape.inputs, shape.outputs / (shape.stride * shape.stride));
  int64_t images = kMostImages;
  while (images > 1 && images * bytes > kGroupBytes) images /= 2;
  return images;
}

}  // namespace resmem::train
