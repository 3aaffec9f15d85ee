#include "inputs/class_names.h"

#include <algorithm>
#include <fstream>
#include <limits>

#include "inputs/cannot_read.h"
#include "inputs/dataset_options.h"
#include "resmem/data/array.h"

namespace resmem::cli {

Result<std::vector<std::string>> ReadClassNames(const std::string& path) {
  std::ifstream file(path);
  if (!file) return CannotRead(path, "; --classes names a file");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) {
      return Status(ErrorCode::kBadData, path + ": line " + std::to_string(names.size() + 1) +
                                             " is empty; give one class name per line");
    }
    names.push_back(std::move(line));
  }
  return names;
}

Result<std::vector<std::string>> ReadClassNames(const std::string& path, int64_t classes) {
  RESMEM_ASSIGN_OR_RETURN(std::vector<std::string> names, ReadClassNames(path));
  if (static_cast<int64_t>(names.size()) != classes) {
    return Status(ErrorCode::kBadData,
                  path + ": " + std::to_string(names.size()) + " names, but the logits have " +
                      std::to_string(classes) + " columns; give one class name per line");
  }
  return names;
}

Result<std::vector<int32_t>> ReadCoarse(const std::string& text, int64_t classes) {
  RESMEM_ASSIGN_OR_RETURN(const ArraySource source, ParseArraySource(text));
  RESMEM_ASSIGN_OR_RETURN(const Array array, OpenArray(source));
  if (array.rows() != classes || array.columns() != 1) {
    return Status(ErrorCode::kBadData, text + ": " + std::to_string(array.rows()) + " x " +
                                           std::to_string(array.columns()) +
                                           " values; --coarse takes one superclass number for "
                                           "each of the " +
                                           std::to_string(classes) + " classes");
  }
  std::vector<int64_t> values(static_cast<size_t>(classes));
  RESMEM_RETURN_IF_ERROR(array.ReadIntegers(0, classes, values));
  std::vector<int32_t> coarse;
  for (const int64_t value : values) {
    if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
      return Status(ErrorCode::kBadData, text + ": superclass " + std::to_string(value) +
                                             " of class " + std::to_string(coarse.size()) +
                                             "; allowed are 0 and more");
    }
    coarse.push_back(static_cast<int32_t>(value));
  }
  return coarse;
}

std::vector<int32_t> CoarseOfClasses(const ImageSet& images, int64_t classes) {
  constexpr int32_t kUnknown = -1;
  if (images.coarse_labels().empty()) return {};
  std::vector<int32_t> coarse(static_cast<size_t>(classes), kUnknown);
  for (size_t i = 0; i < images.labels().size(); ++i) {
    int32_t& known = coarse[static_cast<size_t>(images.labels()[i])];
    if (known != kUnknown && known != images.coarse_labels()[i]) return {};
    known = images.coarse_labels()[i];
  }
  const bool complete = std::find(coarse.begin(), coarse.end(), kUnknown) == coarse.end();
  return complete ? coarse : std::vector<int32_t>();
}

std::string ClassText(const std::vector<std::string>& names, int64_t label) {
  const std::string number = std::to_string(label);
  if (label < 0 || label >= static_cast<int64_t>(names.size())) return number;
  return number + " (" + names[static_cast<size_t>(label)] + ")";
}

}  // namespace resmem::cli
