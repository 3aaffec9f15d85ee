#include "outputs/output_paths.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace resmem::cli {
namespace {

namespace fs = std::filesystem;

Status Clash(const OutputPath& output, const std::string& why) {
  return Status(ErrorCode::kInvalidArgument,
                output.option + " " + output.path + ": " + why + "; give another name");
}

bool IsDeviceOrPipe(const fs::path& path) {
  std::error_code error;
  return fs::is_other(path, error);
}

bool SameFile(const fs::path& left, const fs::path& right) {
  std::error_code error;
  if (fs::exists(left, error) && fs::exists(right, error))
    return fs::equivalent(left, right, error);
  const fs::path full_left = fs::weakly_canonical(fs::absolute(left, error), error);
  return full_left == fs::weakly_canonical(fs::absolute(right, error), error);
}

// A memory owns all that is in its folder; of other folders arrays of certain names are read.
bool IsPartOfFolder(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path full = fs::weakly_canonical(fs::absolute(path, error), error);
  if (!fs::equivalent(full.parent_path(), folder, error)) return false;
  if (fs::exists(folder / "MANIFEST", error)) return true;
  constexpr std::string_view kArrays[] = {"keys", "logits", "predictions", "labels", "targets",
                                          "ids",  "split",  "sources",     "slices"};
  return std::find(std::begin(kArrays), std::end(kArrays), full.stem().string()) !=
         std::end(kArrays);
}

}  // namespace

Status CheckOutputPaths(const std::vector<OutputPath>& outputs,
                        const std::vector<std::string>& inputs) {
  std::error_code error;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputPath& output = outputs[i];
    if (output.path.empty() || output.path == "-" || IsDeviceOrPipe(output.path)) continue;
    for (const std::string& input : inputs) {
      if (input.empty()) continue;
      if (SameFile(output.path, input) ||
          (fs::is_directory(input, error) && IsPartOfFolder(output.path, input))) {
        return Clash(output, "that is an input of this command and would be lost");
      }
    }
    for (size_t j = 0; j < i; ++j) {
      if (!outputs[j].path.empty() && SameFile(output.path, outputs[j].path)) {
        return Clash(output, "that is also the file of " + outputs[j].option);
      }
    }
  }
  return {};
}

}  // namespace resmem::cli
