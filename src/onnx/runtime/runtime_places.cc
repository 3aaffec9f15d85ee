#include "onnx/runtime/runtime_places.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "resmem/fingerprint.h"
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

// Where ./setup puts the library; "" without a home.
std::string CacheFolder() {
  std::string cache = Variable("XDG_CACHE_HOME");
  if (cache.empty() && !Variable("HOME").empty()) cache = Variable("HOME") + "/.cache";
  return cache.empty() ? "" : Text(cache, "/resmem/onnxruntime-", kPinnedRuntime);
}

bool IsFile(const std::string& path) {
  FileSystem& files = FileSystem::Posix();
  return files.Exists(path) && !files.IsDirectory(path);
}

// The library is code that runs as the user: nobody else may have put it there or may change it.
Status CheckOwner(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return {ErrorCode::kNotFound, Text(path, ": cannot be examined")};
  }
  const bool ours = info.st_uid == 0 || info.st_uid == ::geteuid();
  // Of a folder that all may write to, as /tmp, the sticky bit protects what it holds.
  const bool closed = (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 ||
                      (S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0);
  if (ours && closed) return {};
  return {ErrorCode::kUnsupported,
          Text(path, ours ? ": others may write it" : ": belongs to another user",
               ", so no code is loaded from there; ", ours ? "chmod go-w it, or " : "",
               "name the library with --onnxruntime")};
}

// As ./setup fetched it: the cache is not a place that anything else looks after.
Status CheckPinned(const std::string& path) {
#if defined(__x86_64__)
  RESMEM_ASSIGN_OR_RETURN(const std::string digest, DigestFile(path));
  if (digest == kPinnedDigest) return {};
  return {ErrorCode::kCorrupt,
          Text(path, ": is not the ONNX Runtime ", kPinnedRuntime, " that ./setup fetches (digest ",
               digest, ", not ", kPinnedDigest, "); remove it and run ./setup again, or name ",
               "another with --onnxruntime")};
#else
  return path.empty() ? Status(ErrorCode::kNotFound, "no path") : Status();
#endif
}

Status CheckFound(const std::string& path) {
  RESMEM_RETURN_IF_ERROR(CheckOwner(path));
  RESMEM_RETURN_IF_ERROR(CheckOwner(ParentDirectory(path)));
  return path.starts_with(CacheFolder() + "/") ? CheckPinned(path) : Status();
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
  if (!CacheFolder().empty()) folders.push_back(CacheFolder());
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
      if (!IsFile(path)) continue;
      RESMEM_RETURN_IF_ERROR(CheckFound(path));
      return path;
    }
  }
  return Status(
      ErrorCode::kNotFound,
      Text("running a model needs ONNX Runtime, which is not installed here; ", kHowToGet));
}

}  // namespace resmem
