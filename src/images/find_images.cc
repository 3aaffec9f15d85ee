#include <utility>

#include "images/decode.h"
#include "images/found_images.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

// The subfolder of a part, as ImageNet has it; empty where it is not there.
std::string PartFolder(const std::string& folder, const std::string& part) {
  const std::vector<std::string> names =
      part == "train" ? std::vector<std::string>{"train"}
                      : std::vector<std::string>{"test", "val", "validation"};
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    if (FileSystem::Posix().IsDirectory(path)) return path;
  }
  return "";
}

Result<FoundImages> FindInFolder(const ImageSetSource& source) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                          FindArrayFiles(source.path, source.part));
  if (!files.empty()) return OpenArrayFiles(files, source.part);
  if (!source.part.empty()) {
    const std::string folder = PartFolder(source.path, source.part);
    if (!folder.empty()) return OpenImageFolder(folder, source);
    return Status(ErrorCode::kNotFound,
                  Text(source.path, ": has no part ", source.part, ": neither a file nor a ",
                       "subfolder of that name; leave the part out to read all of it"));
  }
  const std::string train = PartFolder(source.path, "train");
  const std::string test = PartFolder(source.path, "test");
  if (!train.empty() && !test.empty()) {
    return Status(ErrorCode::kInvalidArgument, Text(source.path, ": holds ", train, " and ", test,
                                                    "; choose the part train or test"));
  }
  return OpenImageFolder(source.path, source);
}

Status CheckSource(const ImageSetSource& source) {
  if (source.path.empty() && source.files.empty()) {
    return {ErrorCode::kInvalidArgument, "no images were named: give a file or a folder"};
  }
  if (!source.path.empty() && !source.files.empty()) {
    return {ErrorCode::kInvalidArgument,
            Text(source.path, " and ", source.files.front(),
                 ": give either a file or folder of images or a list of files")};
  }
  if (source.part.empty() || source.part == "train" || source.part == "test") return {};
  return {ErrorCode::kInvalidArgument,
          Text("part \"", source.part, "\" of ", source.path, ": the parts are train and test")};
}

}  // namespace

Result<FoundImages> FindImages(const ImageSetSource& source) {
  RESMEM_RETURN_IF_ERROR(CheckSource(source));
  if (source.path.empty()) return OpenImageFiles(source.files);
  FileSystem& files = FileSystem::Posix();
  if (files.IsDirectory(source.path)) return FindInFolder(source);
  if (HasImageName(source.path)) return OpenImageFiles({source.path});
  return OpenArrayFiles({source.path}, source.part);
}

}  // namespace resmem
