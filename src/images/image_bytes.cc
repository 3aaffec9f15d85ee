#include "resmem/models/image_bytes.h"

#include <algorithm>
#include <new>

#include "images/decode.h"
#include "images/fit_image.h"
#include "support/text.h"

namespace resmem {

Status ReadImageBytes(const std::string& name, std::span<const std::byte> bytes,
                      const ImageShape& shape, int64_t resize, int64_t most_pixels,
                      std::span<uint8_t> out) try {
  RESMEM_ASSIGN_OR_RETURN(const ImageFit fit, MakeImageFit(shape, resize));
  if (std::ssize(out) != shape.bytes()) {
    return {ErrorCode::kInvalidArgument, Text(name, ": an image of ", ImageShapeText(shape),
                                              " does not fill ", out.size(), " bytes")};
  }
  Image image;
  RESMEM_RETURN_IF_ERROR(DecodeImage(name, bytes, &image, most_pixels));
  const Status fitted = FitImage(fit, image, out);
  return fitted.ok() ? fitted : Status(fitted.code(), Text(name, ": ", fitted.message()));
} catch (const std::bad_alloc&) {
  return {ErrorCode::kResourceExhausted,
          Text(name, ": not enough memory to decode it; send a smaller image")};
}

}  // namespace resmem
