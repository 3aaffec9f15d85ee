#include "onnx/pixels.h"

namespace resmem {
namespace {

template <int64_t kChannels>
void NormalizeKnown(const std::array<float, 256>* values, const uint8_t* pixels, int64_t area,
                    float* out) {
  for (int64_t i = 0; i < area; ++i) {
    for (int64_t c = 0; c < kChannels; ++c)
      out[c * area + i] = values[c][pixels[i * kChannels + c]];
  }
}

}  // namespace

PixelTable::PixelTable(const ModelManifest& manifest)
    : channels_(manifest.channels),
      area_(manifest.height * manifest.width),
      values_(static_cast<size_t>(manifest.channels)) {
  for (size_t c = 0; c < values_.size(); ++c) {
    for (size_t pixel = 0; pixel < 256; ++pixel) {
      values_[c][pixel] =
          (static_cast<float>(pixel) / 255.0f - manifest.mean[c]) / manifest.deviation[c];
    }
  }
}

void PixelTable::Normalize(const uint8_t* pixels, int64_t count, float* out) const {
  const int64_t values = area_ * channels_;
  for (int64_t row = 0; row < count; ++row, pixels += values, out += values) {
    if (channels_ == 3) {
      NormalizeKnown<3>(values_.data(), pixels, area_, out);
    } else if (channels_ == 1) {
      NormalizeKnown<1>(values_.data(), pixels, area_, out);
    } else {
      for (int64_t i = 0; i < values; ++i) {
        const int64_t c = i % channels_;
        out[c * area_ + i / channels_] = values_[static_cast<size_t>(c)][pixels[i]];
      }
    }
  }
}

}  // namespace resmem
