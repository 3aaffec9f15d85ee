// Images by the names that ImageSet gives them, which a memory keeps as sources.
#ifndef RESMEM_CLI_INPUTS_IMAGES_SOURCE_IMAGES_H_
#define RESMEM_CLI_INPUTS_IMAGES_SOURCE_IMAGES_H_

#include <map>
#include <string>

#include "resmem/models/image_set.h"
#include "resmem/models/thumbnails.h"

namespace resmem::cli {

class SourceImages {
 public:
  // "cat/1.png", or "train.bin:17" for the 18th of a file, which stays open.
  Result<Thumbnail> Read(const std::string& source);

 private:
  std::map<std::string, ImageSet> files_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_IMAGES_SOURCE_IMAGES_H_
