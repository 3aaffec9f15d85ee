// Images made larger or smaller, to the bit as Pillow's Image.resize(..., BILINEAR) does it:
// a triangle filter as wide as the pixels that it replaces, in 22-bit fixed point, along the rows
// and then along the columns, rounded to 8 bits between.
#ifndef RESMEM_IMAGES_RESAMPLE_H_
#define RESMEM_IMAGES_RESAMPLE_H_

#include <cstdint>
#include <vector>

#include "images/image.h"

namespace resmem {

// One side after resizing to `length`, of which [begin, begin + count) is kept.
struct ResampledSide {
  int64_t length = 0;
  int64_t begin = 0;
  int64_t count = 0;
};

// height.count x width.count x image.shape.channels bytes.
std::vector<uint8_t> Resample(const Image& image, const ResampledSide& height,
                              const ResampledSide& width);

}  // namespace resmem

#endif  // RESMEM_IMAGES_RESAMPLE_H_
