#include "onnx/runtime/runtime_places.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>

#include "onnx/runtime/sha256.h"
#include "resmem_program/system_error.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr char kHowToGet[] =
    "install it with: resmem runtime install; or name libonnxruntime.so.1 with --onnxruntime or "
    "RESMEM_ONNXRUNTIME";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The user's home, also for a service that was started without the variable; "" without one.
std::string Home() {
  const std::string home = Variable("HOME");
  if (!home.empty()) return home;
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> text(1 << 14);
  const int failed = ::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found);
  return failed != 0 || found == nullptr || *found->pw_dir != '/' ? "" : found->pw_dir;
}

bool IsFile(const std::string& path) {
  FileSystem& files = FileSystem::Posix();
  return files.Exists(path) && !files.IsDirectory(path);
}

Status CheckOwner(const std::string& path, const struct stat& info) {
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

// Of the folder and all above it, links followed: who may write one of them can put another in the
// place of what it holds.
Status CheckFolders(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path each = std::filesystem::canonical(folder, error);
  while (!error) {
    struct stat info {};
    if (::stat(each.c_str(), &info) != 0) break;
    RESMEM_RETURN_IF_ERROR(CheckOwner(each.string(), info));
    if (each == each.parent_path()) return {};
    each = each.parent_path();
  }
  return {ErrorCode::kIo, Text(folder.string(), ": cannot be examined")};
}

Result<std::string> DigestOf(int descriptor, const std::string& path) {
  std::vector<std::byte> piece(size_t{1} << 20);
  Sha256 digest;
  while (true) {
    const ssize_t size = ::read(descriptor, piece.data(), piece.size());
    if (size == 0) return digest.Finish();
    if (size > 0) {
      digest.Add(std::span(piece).first(static_cast<size_t>(size)));
    } else if (errno != EINTR) {
      return Status(CodeOfSystemError(errno), Text(path, ": cannot read: ", std::strerror(errno)));
    }
  }
}

Status CheckPinned(int descriptor, const std::string& path) {
  if (*kPinnedDigest == '\0') {
    return {ErrorCode::kUnsupported,
            Text(path, ": there is no digest to know it by on this processor; name the library ",
                 "with --onnxruntime")};
  }
  RESMEM_ASSIGN_OR_RETURN(const std::string digest, DigestOf(descriptor, path));
  if (digest == kPinnedDigest) return {};
  return {ErrorCode::kCorrupt,
          Text(path, ": is not the ONNX Runtime ", kPinnedRuntime,
               " that is installed there (SHA-256 ", digest, ", not ", kPinnedDigest,
               "); remove it and run 'resmem runtime install', or name another with ",
               "--onnxruntime")};
}

Result<FoundRuntime> Named(const char* by, const std::string& path) {
  if (!IsFile(path)) {
    return Status(ErrorCode::kNotFound, Text(by, " ", path, ": no such file; ", kHowToGet));
  }
  // Never the loader's own search, which a bare name would start.
  return FoundRuntime{path.find('/') == std::string::npos ? "./" + path : path, true, false};
}

}  // namespace

std::string CacheFolder() {
  std::string cache = Variable("XDG_CACHE_HOME");
  if (cache.empty() && !Home().empty()) cache = Home() + "/.cache";
  return cache.empty() ? "" : Text(cache, "/resmem/onnxruntime-", kPinnedRuntime);
}

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
  // The service's program lies in libexec/, so the system's place is named.
  if (folders.empty() || folders.back() != kSystemRuntimeFolder) {
    folders.push_back(kSystemRuntimeFolder);
  }
  if (!CacheFolder().empty()) folders.push_back(CacheFolder());
  for (const char* folder : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu",
                             "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    folders.push_back(folder);
  }
  return folders;
}

Result<FoundRuntime> FindRuntime(const std::string& library) {
  if (!library.empty()) return Named("--onnxruntime", library);
  const std::string variable = Variable(kRuntimeVariable);
  if (!variable.empty()) return Named(kRuntimeVariable, variable);
  for (const std::string& folder : RuntimeFolders()) {
    for (const char* name : {"libonnxruntime.so.1", "libonnxruntime.so"}) {
      const std::string path = Text(folder, "/", name);
      const bool pinned = folder == CacheFolder() || folder == kSystemRuntimeFolder;
      if (IsFile(path)) return FoundRuntime{path, false, pinned};
    }
  }
  return Status(
      ErrorCode::kNotFound,
      Text("running a model needs ONNX Runtime, which is not installed here; ", kHowToGet));
}

Result<CheckedRuntime> CheckedRuntime::Open(const FoundRuntime& found) {
  if (found.named) return CheckedRuntime(-1, found.path);
  const auto cannot = [](const std::string& path) {
    const int error = errno;
    return Status(CodeOfSystemError(error),
                  Text(path, ": cannot be examined: ", std::strerror(error)));
  };
  CheckedRuntime file(::open(found.path.c_str(), O_RDONLY | O_CLOEXEC), found.path);
  struct stat info {};
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &info) != 0) return cannot(found.path);
  RESMEM_RETURN_IF_ERROR(CheckOwner(found.path, info));
  const std::string folder = ParentDirectory(found.path);
  if (::stat(folder.c_str(), &info) != 0) return cannot(folder);
  RESMEM_RETURN_IF_ERROR(CheckOwner(folder, info));
  if (!found.pinned) {  // by its path, from which it may load others beside it
    RESMEM_RETURN_IF_ERROR(CheckFolders(folder));
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(found.path, error);
    if (error) return cannot(found.path);
    RESMEM_RETURN_IF_ERROR(CheckFolders(real.parent_path()));
    return file;
  }
  RESMEM_RETURN_IF_ERROR(CheckPinned(file.descriptor_, found.path));
  file.name_ = Text("/proc/self/fd/", file.descriptor_);
  return file;
}

CheckedRuntime::CheckedRuntime(CheckedRuntime&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)) {}

CheckedRuntime::~CheckedRuntime() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace resmem
