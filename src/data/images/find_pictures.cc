#include <utility>

#include "data/images/found_pictures.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

Result<FoundPictures> FindInFolder(const ImageSetSource& source) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                          FindArrayFiles(source.path, source.part));
  if (!files.empty()) return OpenArrayFiles(files, source.part);
  return Status(ErrorCode::kNotFound, Text(source.path, ": no pictures found"));
}

Status CheckSource(const ImageSetSource& source) {
  if (source.path.empty()) {
    return {ErrorCode::kInvalidArgument, "no pictures were named: give a file or a folder"};
  }
  if (source.part.empty() || source.part == "train" || source.part == "test") return {};
  return {ErrorCode::kInvalidArgument,
          Text("part \"", source.part, "\" of ", source.path, ": the parts are train and test")};
}

}  // namespace

Result<FoundPictures> FindPictures(const ImageSetSource& source) {
  RESMEM_RETURN_IF_ERROR(CheckSource(source));
  FileSystem& files = FileSystem::Posix();
  if (files.IsDirectory(source.path)) return FindInFolder(source);
  return OpenArrayFiles({source.path}, source.part);
}

}  // namespace resmem
