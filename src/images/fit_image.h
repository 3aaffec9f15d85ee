// An image of any size into the one shape that the base model reads.
#ifndef RESMEM_IMAGES_FIT_IMAGE_H_
#define RESMEM_IMAGES_FIT_IMAGE_H_

#include <span>

#include "images/image.h"

namespace resmem {

struct ImageFit {
  ImageShape shape;
  int64_t resize = 0;  // length of the shorter side before the center is cut out; 0: never resized
};

// kInvalidArgument where the shape is impossible or the cut larger than the resized image.
Result<ImageFit> MakeImageFit(const ImageShape& shape, int64_t resize);

// Writes fit.shape.bytes() to `out`.  kMismatch where the image cannot have that shape; the
// message continues a sentence that begins with the image's name.
Status FitImage(const ImageFit& fit, const Image& image, std::span<uint8_t> out);

}  // namespace resmem

#endif  // RESMEM_IMAGES_FIT_IMAGE_H_
