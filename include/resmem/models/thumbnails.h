// Small images for reports: of an array's rows and of an image set.
#ifndef RESMEM_MODELS_THUMBNAILS_H_
#define RESMEM_MODELS_THUMBNAILS_H_

#include <cstdint>

#include "resmem/data/array.h"
#include "resmem/models/image_set.h"
#include "resmem/report/report.h"

namespace resmem {

// How a row of an image array is laid out.
struct ImageLayout {
  int64_t height = 0, width = 0, channels = 1;
  bool planar = false;  // channels x height x width, as in CIFAR files and PyTorch
};
// From the array's own shape: rows x h x w, x h x w x (1 or 3), x (1 or 3) x h x w; a flat row
// of 784 or 3072 values is MNIST's or CIFAR's.  kBadData where the shape is none of these.
Result<ImageLayout> GuessImageLayout(const Array& images);
// Values 0 .. 255, or floating point values 0 .. 1.  A side beyond 128 pixels is shrunk by a
// whole factor.
Result<Thumbnail> ReadThumbnail(const Array& images, const ImageLayout& layout, int64_t row);
Result<Thumbnail> ReadThumbnail(const ImageSet& images, int64_t row);

// Of an array of images, which must outlive it.
Result<ImageOf> ImagesIn(const Array& images);

}  // namespace resmem

#endif  // RESMEM_MODELS_THUMBNAILS_H_
