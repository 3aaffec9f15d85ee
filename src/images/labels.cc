#include <algorithm>
#include <limits>
#include <string_view>

#include "images/found_images.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {

Result<std::vector<int32_t>> ReadLabels(const Array& array, int64_t rows, int64_t classes) {
  if (array.rows() != rows || array.columns() != 1) {
    return Status(ErrorCode::kBadData,
                  Text(array.name(), ": holds ", array.rows(), " x ", array.columns(),
                       " labels, but there are ", rows, " images; give one number an image"));
  }
  const int64_t limit = classes > 0 ? classes : std::numeric_limits<int32_t>::max();
  std::vector<int32_t> labels(static_cast<size_t>(rows));
  constexpr int64_t kBlock = 4096;
  std::vector<int64_t> block;
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    block.resize(static_cast<size_t>(std::min(kBlock, rows - begin)));
    RESMEM_RETURN_IF_ERROR(
        array.ReadIntegers(begin, static_cast<int64_t>(block.size()), std::span(block)));
    for (size_t i = 0; i < block.size(); ++i) {
      const auto row = static_cast<size_t>(begin) + i;
      if (block[i] < 0 || block[i] >= limit) {
        return Status(ErrorCode::kBadData, Text(array.name(), ": row ", row, " has label ",
                                                block[i], ", but labels are 0 to ", limit - 1));
      }
      labels[row] = static_cast<int32_t>(block[i]);
    }
  }
  return labels;
}

Result<std::vector<std::string>> ReadNamesBeside(const std::string& folder,
                                                 const std::vector<const char*>& candidates) {
  constexpr size_t kMaxBytes = size_t{16} << 20;
  std::vector<std::string> names;
  for (const char* candidate : candidates) {
    const std::string path = folder + "/" + candidate;
    if (!FileSystem::Posix().Exists(path)) continue;
    RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(path));
    if (file.bytes().size() > kMaxBytes) {
      return Status(ErrorCode::kBadData,
                    Text(path, ": ", file.bytes().size(), " bytes are too many for class names"));
    }
    std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      names.emplace_back(line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    // The official CIFAR-10 file ends with an empty line.
    while (!names.empty() && names.back().empty()) names.pop_back();
    break;
  }
  return names;
}

}  // namespace resmem
