#include "process/sibling.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace resmem::cli {

std::string FindSibling(const std::string& program) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& folder : {here, here.parent_path() / "libexec" / "resmem"}) {
    const std::string path = (folder / program).string();
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

Status BecomeSibling(const SiblingCommand& sibling, const std::vector<std::string>& words) {
  const std::string path = FindSibling(sibling.program);
  if (path.empty()) {
    return {ErrorCode::kNotFound, std::string(sibling.program) +
                                      " is not installed beside resmem; build it with -D" +
                                      sibling.option + "=ON, or install its package"};
  }
  std::vector<std::string> all = {path};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  return {ErrorCode::kIo, "cannot start " + path + ": " + std::strerror(errno)};
}

}  // namespace resmem::cli
