#include "resmem/models/thumbnails.h"

#include <algorithm>
#include <cmath>

#include "support/checked_math.h"
#include "support/text.h"

namespace resmem {
namespace {

bool IsColorCount(int64_t count) {
  return count == 1 || count == 3;
}

std::string ShapeText(const Array& images) {
  std::string text;
  for (const int64_t extent : images.shape()) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text;
}

constexpr int64_t kLongestSide = 128;

// Each pixel the mean of factor x factor pixels; what is left over at the edges is cut off.
Thumbnail Shrink(const Thumbnail& image) {
  const int64_t factor = (std::max(image.height, image.width) + kLongestSide - 1) / kLongestSide;
  if (factor <= 1 || image.height < factor || image.width < factor) return image;
  Thumbnail small{image.height / factor, image.width / factor, image.channels, {}};
  for (int64_t y = 0; y < small.height; ++y) {
    for (int64_t x = 0; x < small.width; ++x) {
      for (int64_t channel = 0; channel < image.channels; ++channel) {
        int64_t sum = 0;
        for (int64_t i = 0; i < factor * factor; ++i) {
          const int64_t row = y * factor + i / factor, column = x * factor + i % factor;
          sum += image.pixels[static_cast<size_t>((row * image.width + column) * image.channels +
                                                  channel)];
        }
        small.pixels.push_back(static_cast<uint8_t>(sum / (factor * factor)));
      }
    }
  }
  return small;
}

}  // namespace

Result<ImageLayout> GuessImageLayout(const Array& images) {
  const std::span<const int64_t> shape = images.shape();
  if (shape.size() == 3) return ImageLayout{shape[1], shape[2], 1, false};
  if (shape.size() == 4 && IsColorCount(shape[3])) {
    return ImageLayout{shape[1], shape[2], shape[3], false};
  }
  if (shape.size() == 4 && IsColorCount(shape[1])) {
    return ImageLayout{shape[2], shape[3], shape[1], true};
  }
  if (shape.size() == 2 && shape[1] == 28 * 28) return ImageLayout{28, 28, 1, false};
  if (shape.size() == 2 && shape[1] == 32 * 32 * 3) return ImageLayout{32, 32, 3, true};
  return Status(ErrorCode::kBadData,
                Text(images.name(), " has shape ", ShapeText(images),
                     ", which is not one of images; give rows x height x width, with 1 or 3 "
                     "channels last or before the height"));
}

Result<Thumbnail> ReadThumbnail(const Array& images, const ImageLayout& layout, int64_t row) {
  const std::optional<int64_t> pixels = CheckedMultiply(layout.height, layout.width);
  const std::optional<int64_t> values =
      pixels ? CheckedMultiply(*pixels, layout.channels) : std::nullopt;
  if (!values || *values != images.columns() || !IsColorCount(layout.channels)) {
    return Status(ErrorCode::kBadData,
                  Text(images.name(), " has ", images.columns(), " values a row, not ",
                       layout.height, " x ", layout.width, " x ", layout.channels));
  }
  if (row < 0 || row >= images.rows()) {
    return Status(ErrorCode::kNotFound,
                  Text(images.name(), " has ", images.rows(), " rows and so no image of row ", row,
                       "; give the images of the same rows in the same order"));
  }
  std::vector<float> raw(static_cast<size_t>(*values));
  RESMEM_RETURN_IF_ERROR(images.ReadFloats(row, 1, raw));
  const ElementType type = images.type();
  const bool floating = type == ElementType::kFloat16 || type == ElementType::kBFloat16 ||
                        type == ElementType::kFloat32 || type == ElementType::kFloat64;
  const float largest = *std::max_element(raw.begin(), raw.end());
  const float scale = floating && largest <= 1 ? 255.0f : 1.0f;
  Thumbnail image{layout.height, layout.width, layout.channels, {}};
  image.pixels.resize(raw.size());
  const auto channels = static_cast<size_t>(layout.channels);
  for (size_t pixel = 0; pixel < static_cast<size_t>(*pixels); ++pixel) {
    for (size_t channel = 0; channel < channels; ++channel) {
      const float value =
          scale * (layout.planar ? raw[channel * static_cast<size_t>(*pixels) + pixel]
                                 : raw[pixel * channels + channel]);
      // NaN shows as black.
      const float clamped = value > 0 ? std::min(value, 255.0f) : 0.0f;
      image.pixels[pixel * channels + channel] = static_cast<uint8_t>(std::lround(clamped));
    }
  }
  return Shrink(image);
}

Result<Thumbnail> ReadThumbnail(const ImageSet& images, int64_t row) {
  const ImageShape& shape = images.shape();
  Thumbnail image{shape.height, shape.width, shape.channels, {}};
  image.pixels.resize(static_cast<size_t>(shape.bytes()));
  RESMEM_RETURN_IF_ERROR(images.Read(row, 1, image.pixels));
  return Shrink(image);
}

Result<ImageOf> ImagesIn(const Array& images) {
  RESMEM_ASSIGN_OR_RETURN(const ImageLayout layout, GuessImageLayout(images));
  return ImageOf([&images, layout](int64_t row) { return ReadThumbnail(images, layout, row); });
}

}  // namespace resmem
