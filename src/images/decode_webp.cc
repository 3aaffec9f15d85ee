#include <webp/decode.h>

#include "images/decode.h"
#include "support/text.h"

namespace resmem {

Status DecodeWebp(const std::string& name, ByteSpan bytes, Image* image, int64_t most_pixels) {
  const auto* const data = reinterpret_cast<const uint8_t*>(bytes.data());
  const auto damaged = [&] {
    return Status(ErrorCode::kBadData,
                  Text(name, ": the WebP file is damaged; replace it or take it away"));
  };
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, bytes.size(), &features) != VP8_STATUS_OK) return damaged();
  if (features.has_animation != 0) {
    return {ErrorCode::kUnsupported,
            Text(name, ": is an animation; save the one image of it that is meant")};
  }
  const ImageShape shape{features.height, features.width, 3};
  RESMEM_RETURN_IF_ERROR(CheckImageShape(name, shape, most_pixels));
  image->shape = shape;
  image->pixels.resize(static_cast<size_t>(shape.bytes()));
  const uint8_t* const pixels =
      WebPDecodeRGBInto(data, bytes.size(), image->pixels.data(), image->pixels.size(),
                        static_cast<int>(shape.width * shape.channels));
  return pixels == nullptr ? damaged() : Status();
}

}  // namespace resmem
