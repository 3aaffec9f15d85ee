// Images of a memory's rows, found by their sources: a neighbor is shown as what it is.
//
// Only images of the folder or file that the operator named are ever read, whatever the source of a
// learned row says.
#ifndef RESMEM_SERVER_MEMORIES_ROW_IMAGES_H_
#define RESMEM_SERVER_MEMORIES_ROW_IMAGES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resmem/models/image_set.h"
#include "resmem/status.h"

namespace resmem::serve {

// Immutable: const methods may be called from any number of threads.
class RowImages {
 public:
  // As `resmem memorize --images` reads it; of a folder that holds training and test images both.
  static Result<std::shared_ptr<const RowImages>> Open(const std::string& path);

  // The image as a PNG file, a side at most 128 pixels.  `source`: "cat/1.png" or "train.bin:17";
  // folders before these may be called otherwise than when the memory was made.  kNotFound where
  // there is none of this name, or several.
  Result<std::string> Png(std::string_view source) const;

 private:
  struct Place {
    uint64_t name = 0;  // hashed
    uint32_t set = 0;
    int64_t row = 0;
  };
  RowImages() = default;
  void List();

  std::vector<ImageSet> sets_;
  std::vector<Place> places_;  // by name
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_ROW_IMAGES_H_
