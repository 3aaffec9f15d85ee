// PNG, JPEG and WebP files, as Pillow's Image.open(...).convert("RGB" or "L") reads them:
// transparency and the camera's orientation are not applied, 16-bit channels keep their upper half.
//
// What libpng or libjpeg only warn of is refused where it means lost pixels.
#ifndef RESMEM_IMAGES_DECODE_H_
#define RESMEM_IMAGES_DECODE_H_

#include <string>

#include "data/file_bytes.h"
#include "images/image.h"

namespace resmem {

// By the first bytes, whatever the file is called.  Gray stays gray.  Pixels are decoded only where
// there are at most `most_pixels`.
Status DecodeImage(const std::string& name, ByteSpan bytes, Image* image,
                   int64_t most_pixels = kMaxImagePixels);

bool LooksLikePng(ByteSpan bytes);
bool LooksLikeJpeg(ByteSpan bytes);
bool LooksLikeWebp(ByteSpan bytes);
Status DecodePng(const std::string& name, ByteSpan bytes, Image* image,
                 int64_t most_pixels = kMaxImagePixels);
Status DecodeJpeg(const std::string& name, ByteSpan bytes, Image* image,
                  int64_t most_pixels = kMaxImagePixels);
Status DecodeWebp(const std::string& name, ByteSpan bytes, Image* image,
                  int64_t most_pixels = kMaxImagePixels);

// ".png", ".jpg", ".jpeg" or ".webp", in any case.
bool HasImageName(const std::string& path);

}  // namespace resmem

#endif  // RESMEM_IMAGES_DECODE_H_
