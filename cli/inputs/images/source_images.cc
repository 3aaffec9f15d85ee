#include "inputs/images/source_images.h"

#include <utility>

#include "console/values.h"

namespace resmem::cli {

Result<Thumbnail> SourceImages::Read(const std::string& source) {
  ImageSetSource place;
  place.path = source;
  int64_t row = 0;
  const size_t colon = source.rfind(':');
  const bool numbered =
      colon != std::string::npos && ParseValue(source.substr(colon + 1), &row).ok();
  if (!numbered) {
    RESMEM_ASSIGN_OR_RETURN(const ImageSet image, ImageSet::Open(place));
    return ReadThumbnail(image, 0);
  }
  place.path = source.substr(0, colon);
  auto file = files_.find(place.path);
  if (file == files_.end()) {
    RESMEM_ASSIGN_OR_RETURN(ImageSet images, ImageSet::Open(place));
    file = files_.emplace(place.path, std::move(images)).first;
  }
  return ReadThumbnail(file->second, row);
}

}  // namespace resmem::cli
