// Images in uint8 arrays: CIFAR, IDX, NumPy.
#ifndef RESMEM_IMAGES_ARRAY_IMAGES_H_
#define RESMEM_IMAGES_ARRAY_IMAGES_H_

#include <memory>
#include <string>
#include <vector>

#include "data/array_storage.h"
#include "images/image.h"

namespace resmem {

// The arrays one after the other; each has its name set.  All images have one shape.
Result<std::unique_ptr<ImageStore>> MakeArrayImages(std::vector<StoragePointer> arrays);

}  // namespace resmem

#endif  // RESMEM_IMAGES_ARRAY_IMAGES_H_
