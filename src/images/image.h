// One image, and where images come from before they are brought to the wanted shape.
#ifndef RESMEM_IMAGES_IMAGE_H_
#define RESMEM_IMAGES_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/models/image_set.h"
#include "resmem/status.h"

namespace resmem {

struct Image {
  ImageShape shape;
  std::vector<uint8_t> pixels;  // shape.bytes(), the channels of a pixel side by side
};

// The largest image that is decoded: 8192 x 8192.
inline constexpr int64_t kMaxImageSide = 65500;  // JPEG's own
inline constexpr int64_t kMaxImagePixels = int64_t{1} << 26;
// kBadData where a side is 0 or too large, there are neither 1 nor 3 channels, or more pixels than
// `most`.
Status CheckImageShape(const std::string& name, const ImageShape& shape,
                       int64_t most = kMaxImagePixels);

// Immutable: any number of threads may read.
class ImageStore {
 public:
  virtual ~ImageStore() = default;
  virtual int64_t size() const = 0;
  // The image as it is stored; its shape need not be that of the others.
  virtual Status Read(int64_t row, Image* image) const = 0;
  virtual std::string name(int64_t row) const = 0;
};

}  // namespace resmem

#endif  // RESMEM_IMAGES_IMAGE_H_
