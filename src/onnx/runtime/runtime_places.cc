#include "onnx/runtime/runtime_places.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr char kHowToGet[] =
    "run ./setup in the source of resmem, which fetches it, or name libonnxruntime.so.1 with "
    "--onnxruntime or RESMEM_ONNXRUNTIME";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsFile(const std::string& path) {
  FileSystem& files = FileSystem::Posix();
  return files.Exists(path) && !files.IsDirectory(path);
}

Result<std::string> Named(const char* by, const std::string& path) {
  if (!IsFile(path)) {
    return Status(ErrorCode::kNotFound, Text(by, " ", path, ": no such file; ", kHowToGet));
  }
  // Never the loader's own search, which a bare name would start.
  return path.find('/') == std::string::npos ? "./" + path : path;
}

}  // namespace

std::vector<std::string> RuntimeFolders() {
  std::vector<std::string> folders;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path folder = program.parent_path();
    folders.push_back(folder.string());
    folders.push_back((folder.parent_path() / "lib").string());
    folders.push_back((folder.parent_path() / "lib" / "resmem").string());
  }
  std::string cache = Variable("XDG_CACHE_HOME");
  if (cache.empty() && !Variable("HOME").empty()) cache = Variable("HOME") + "/.cache";
  if (!cache.empty()) folders.push_back(Text(cache, "/resmem/onnxruntime-", kPinnedRuntime));
  for (const char* folder : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu",
                             "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    folders.push_back(folder);
  }
  return folders;
}

Result<std::string> FindRuntime(const std::string& library) {
  if (!library.empty()) return Named("--onnxruntime", library);
  const std::string variable = Variable(kRuntimeVariable);
  if (!variable.empty()) return Named(kRuntimeVariable, variable);
  for (const std::string& folder : RuntimeFolders()) {
    for (const char* name : {"libonnxruntime.so.1", "libonnxruntime.so"}) {
      const std::string path = Text(folder, "/", name);
      if (IsFile(path)) return path;
    }
  }
  return Status(
      ErrorCode::kNotFound,
      Text("running a model needs ONNX Runtime, which is not installed here; ", kHowToGet));
}

}  // namespace resmem
