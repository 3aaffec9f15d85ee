// From a path to images and their labels: which form lies there, and which files belong to it.
#ifndef RESMEM_IMAGES_FOUND_IMAGES_H_
#define RESMEM_IMAGES_FOUND_IMAGES_H_

#include <memory>
#include <string>
#include <vector>

#include "images/image.h"
#include "resmem/data/array.h"

namespace resmem {

// The fields are those of ImageSet.
struct FoundImages {
  std::unique_ptr<ImageStore> store;
  std::vector<int32_t> labels, coarse_labels;
  std::vector<std::string> class_names, coarse_class_names;
  std::vector<std::string> paths, notes;
};

Result<FoundImages> FindImages(const ImageSetSource& source);

// Array files of one form, one after the other.  `part` chooses x_train or x_test of an .npz.
Result<FoundImages> OpenArrayFiles(const std::vector<std::string>& files, const std::string& part);

// The array files in `folder` that are the part asked for; none where there are only others.
// kInvalidArgument where train and test are there and `part` is empty.
Result<std::vector<std::string>> FindArrayFiles(const std::string& folder, const std::string& part);

// Named files, in that order; none is read yet.
FoundImages OpenImageFiles(const std::vector<std::string>& files);

// Class folders where there are any, else the images of `path`, in the order of their names.
// `source` says which classes the model has; its own path may hold `path` as one part.
Result<FoundImages> OpenImageFolder(const std::string& path, const ImageSetSource& source);

// Whole numbers from 0, one for each of `rows` images; below `classes` unless that is 0.
Result<std::vector<int32_t>> ReadLabels(const Array& array, int64_t rows, int64_t classes);

// One name a line from the first of `candidates` that is in `folder`; empty where none is.
Result<std::vector<std::string>> ReadNamesBeside(const std::string& folder,
                                                 const std::vector<const char*>& candidates);

}  // namespace resmem

#endif  // RESMEM_IMAGES_FOUND_IMAGES_H_
