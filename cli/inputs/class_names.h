// Small tables about classes that people keep as text or arrays.
#ifndef RESMEM_CLI_INPUTS_CLASS_NAMES_H_
#define RESMEM_CLI_INPUTS_CLASS_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/models/image_set.h"
#include "resmem/status.h"

namespace resmem::cli {

// One name a line.
Result<std::vector<std::string>> ReadClassNames(const std::string& path);
// `classes` of them.
Result<std::vector<std::string>> ReadClassNames(const std::string& path, int64_t classes);

// Superclass number of each class: an array of `classes` whole numbers.
Result<std::vector<int32_t>> ReadCoarse(const std::string& source, int64_t classes);

// The same from images that carry both labels (CIFAR-100); empty where they do not tell it of
// every class.
std::vector<int32_t> CoarseOfClasses(const ImageSet& images, int64_t classes);

// "7 (sneaker)", or "7" without names.
std::string ClassText(const std::vector<std::string>& names, int64_t label);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_CLASS_NAMES_H_
