#include "memories/row_images.h"

#include <algorithm>
#include <functional>

#include "resmem/models/thumbnails.h"
#include "resmem/report/report.h"

namespace resmem::serve {
namespace {

// What of a name does not depend on where the images lie: a file with a row's number, or a file and
// its folder, which is its class.
std::string_view ShortName(std::string_view name) {
  const size_t colon = name.rfind(':');
  const bool numbered = colon != std::string_view::npos && colon + 1 < name.size() &&
                        name.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  size_t slash = name.rfind('/');
  if (!numbered && slash != std::string_view::npos && slash > 0) slash = name.rfind('/', slash - 1);
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

uint64_t Hash(std::string_view name) {
  return std::hash<std::string_view>()(ShortName(name));
}

}  // namespace

Result<std::shared_ptr<const RowImages>> RowImages::Open(const std::string& path) {
  auto images = std::shared_ptr<RowImages>(new RowImages);
  ImageSetSource source;
  source.path = path;
  Result<ImageSet> whole = ImageSet::Open(source);
  if (whole.ok()) {
    images->sets_.push_back(std::move(*whole));
  } else {
    for (const char* part : {"train", "test"}) {
      source.part = part;
      Result<ImageSet> set = ImageSet::Open(source);
      if (set.ok()) images->sets_.push_back(std::move(*set));
    }
    if (images->sets_.empty()) return whole.status();
  }
  images->List();
  return std::shared_ptr<const RowImages>(std::move(images));
}

void RowImages::List() {
  for (uint32_t set = 0; set < sets_.size(); ++set) {
    for (int64_t row = 0; row < sets_[set].size(); ++row) {
      places_.push_back({Hash(sets_[set].name(row)), set, row});
    }
  }
  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return a.name < b.name; });
}

Result<std::string> RowImages::Png(std::string_view source) const {
  const auto less = [](const Place& place, uint64_t name) { return place.name < name; };
  const Place* found = nullptr;
  int64_t count = 0;
  for (auto at = std::lower_bound(places_.begin(), places_.end(), Hash(source), less);
       at != places_.end() && at->name == Hash(source); ++at) {
    if (ShortName(sets_[at->set].name(at->row)) != ShortName(source)) continue;
    found = &*at;
    ++count;
  }
  if (count != 1) {
    return Status(ErrorCode::kNotFound, count == 0 ? "no image has the name of this row's source"
                                                   : "several images have the name of this row's "
                                                     "source");
  }
  RESMEM_ASSIGN_OR_RETURN(const Thumbnail image, ReadThumbnail(sets_[found->set], found->row));
  RESMEM_ASSIGN_OR_RETURN(const std::vector<uint8_t> png, EncodePng(image));
  return std::string(png.begin(), png.end());
}

}  // namespace resmem::serve
