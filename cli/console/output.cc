#include "console/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace resmem::cli {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

// Where symbolic links end: the file itself is replaced, not the link to it.
std::string FollowLinks(std::filesystem::path path) {
  std::error_code error;
  constexpr int kMostLinks = 40;
  for (int links = 0; links < kMostLinks && std::filesystem::is_symlink(path, error); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;
  }
  return path.string();
}

}  // namespace

Output Output::Standard() {
  return Output(STDOUT_FILENO, "standard output", "", "");
}

Result<Output> Output::File(const std::string& given) {
  const std::string path = FollowLinks(given);
  struct stat present {};
  const bool exists = stat(path.c_str(), &present) == 0;
  const bool in_place = exists && !S_ISREG(present.st_mode) && !S_ISDIR(present.st_mode);
  const std::string temporary = in_place ? "" : path + ".part" + std::to_string(getpid());
  const std::string& name = in_place ? path : temporary;
  if (exists && S_ISDIR(present.st_mode)) errno = EISDIR;
  const int descriptor = exists && S_ISDIR(present.st_mode)
                             ? -1
                             : open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  Output output(descriptor, given, path, descriptor < 0 ? "" : temporary);
  if (descriptor < 0) return output.Fail("cannot be created");
  return output;
}

Result<Output> Output::Open(const std::string& path) {
  if (path.empty() || path == "-") return Standard();
  return File(path);
}

Output::Output(Output&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      buffer_(std::move(other.buffer_)) {}

Output::~Output() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status Output::Fail(const char* doing) const {
  const int error = errno;
  if (error == EPIPE) return Status(ErrorCode::kCancelled, "the reader of " + name_ + " left");
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return Status(full ? ErrorCode::kResourceExhausted : ErrorCode::kIo,
                name_ + " " + doing + ": " + std::strerror(error) +
                    (full ? "; free some space or choose another place" : ""));
}

Status Output::Write(std::string_view text) {
  buffer_ += text;
  return buffer_.size() < kBufferBytes ? Status() : Flush();
}

Status Output::Flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail("cannot be written");
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
  return {};
}

Status Output::Close() {
  RESMEM_RETURN_IF_ERROR(Flush());
  if (temporary_.empty()) {
    // Some systems report a full disk only here.  A duplicate, as standard output stays open.
    const int duplicate = dup(descriptor_);
    if (duplicate < 0 || close(duplicate) != 0) return Fail("cannot be written");
    return {};
  }
  if (fsync(descriptor_) != 0) return Fail("cannot be written");
  if (close(std::exchange(descriptor_, -1)) != 0) return Fail("cannot be written");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return Fail("cannot be created");
  temporary_.clear();
  return {};
}

Status PrintResult(std::string_view text) {
  Output out = Output::Standard();
  RESMEM_RETURN_IF_ERROR(out.Write(text));
  return out.Close();
}

}  // namespace resmem::cli
