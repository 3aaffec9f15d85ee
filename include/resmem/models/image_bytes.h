// One PNG, JPEG or WebP file whose bytes are in memory already, because they came over a network.
#ifndef RESMEM_MODELS_IMAGE_BYTES_H_
#define RESMEM_MODELS_IMAGE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "resmem/models/image_set.h"
#include "resmem/status.h"

namespace resmem {

// The pixels that an ImageSet of this `shape` and `resize` gives for such a file, into `out`
// (shape.bytes()).  `name` begins the messages.  A file that says it has more than `most_pixels` is
// refused before it is decoded.
// Errors: kBadData (damaged, or no PNG, JPEG or WebP file), kMismatch (it cannot have the shape),
// kInvalidArgument (shape, resize, the size of `out`), kResourceExhausted.
Status ReadImageBytes(const std::string& name, std::span<const std::byte> bytes,
                      const ImageShape& shape, int64_t resize, int64_t most_pixels,
                      std::span<uint8_t> out);

}  // namespace resmem

#endif  // RESMEM_MODELS_IMAGE_BYTES_H_
