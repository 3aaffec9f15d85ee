// Photos of ImageNet in whatever layout they lie, and the classes that they show.
#ifndef RESMEM_LAB_REPRODUCE_IMAGENET_PHOTOS_H_
#define RESMEM_LAB_REPRODUCE_IMAGENET_PHOTOS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "images/fit_image.h"
#include "images/image.h"
#include "resmem/status.h"

namespace resmem::cli::reproduce::imagenet {

// The classes that are told apart, and which output of a network each of them is.
struct Classes {
  std::vector<std::string> names;  // WordNet ids, the names of the folders
  std::vector<int64_t> outputs;

  int64_t size() const { return static_cast<int64_t>(names.size()); }
};
// "n01443537 1" a line: name and output.  kBadData with file and line.
Result<Classes> ReadClasses(const std::string& path);
// The folders of `folder` in the order of their names are the outputs 0, 1, ..., as ImageNet has
// it.
Result<Classes> ClassesOfFolders(const std::string& folder);

struct Photos {
  std::vector<std::string> files;
  std::vector<int32_t> labels;  // places in Classes
  int64_t size() const { return static_cast<int64_t>(files.size()); }
};
// CLASS/*.JPEG, or CLASS/images/*.JPEG as Tiny-ImageNet has it; or files beside each other (also in
// images/) with a list of their classes: `list`, or val_annotations.txt in `folder`, or
// LOC_val_solution.csv in `folder` or one or three folders above, as Kaggle's copy has it.  By
// class and name.  Photos of other classes are left out.
Result<Photos> FindPhotos(const std::string& folder, const Classes& classes,
                          const std::string& list = "");
// The first `count` of each class, and the others.
struct DividedPhotos {
  Photos first, others;
};
DividedPhotos DivideByClass(const Photos& photos, const Classes& classes, int64_t count);

// What is done to a photo before it is brought to the network's size.
struct Reduction {
  std::string name;  // "none", "nearest", "smooth"
  int64_t side = 0;  // of the square that is left; 0: nothing is done
  bool nearest = false;
};
// The central square, reduced to side x side: each pixel the nearest one of the photo, as
// Tiny-ImageNet was made, or a mean of all that it replaces.
Result<Image> Reduce(const Image& image, const Reduction& reduction);
// fit.shape.bytes() of a file.
Status ReadPhoto(const std::string& file, const Reduction& reduction, const ImageFit& fit,
                 std::span<uint8_t> out);

}  // namespace resmem::cli::reproduce::imagenet

#endif  // RESMEM_LAB_REPRODUCE_IMAGENET_PHOTOS_H_
