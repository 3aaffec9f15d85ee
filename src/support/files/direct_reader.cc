#include "support/files/direct_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "resmem_program/system_error.h"
#include "support/text.h"

namespace resmem {
namespace {

// Of places, sizes and memory, for any disk.
constexpr int64_t kPage = 4096;

Status ReadError(const std::string& path, const char* doing, int error) {
  return {error == ENOENT ? ErrorCode::kNotFound : CodeOfSystemError(error),
          Text(path, ": cannot ", doing, ": ", std::strerror(error))};
}

}  // namespace

void DirectReader::Free::operator()(std::byte* bytes) const {
  std::free(bytes);
}

DirectReader::DirectReader(std::string path, int descriptor, bool direct)
    : path_(std::move(path)), descriptor_(descriptor), direct_(direct) {}

DirectReader::DirectReader(DirectReader&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      direct_(other.direct_),
      room_(std::move(other.room_)),
      room_bytes_(other.room_bytes_) {}

DirectReader::~DirectReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<DirectReader> DirectReader::Open(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC;
  int descriptor = ::open(path.c_str(), kFlags | O_DIRECT);
  const bool direct = descriptor >= 0;
  // As tmpfs answers on older kernels.
  if (!direct && errno == EINVAL) descriptor = ::open(path.c_str(), kFlags);
  if (descriptor < 0) return ReadError(path, "open", errno);
  return DirectReader(path, descriptor, direct);
}

Status DirectReader::Reopen() {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ReadError(path_, "open", errno);
  ::close(std::exchange(descriptor_, descriptor));
  direct_ = false;
  return {};
}

Result<std::span<const std::byte>> DirectReader::Read(int64_t offset, int64_t size) {
  const int64_t begin = offset / kPage * kPage;
  const int64_t end = (offset + size + kPage - 1) / kPage * kPage;
  if (room_bytes_ < end - begin) {
    void* room = nullptr;
    if (::posix_memalign(&room, kPage, static_cast<size_t>(end - begin)) != 0) {
      throw std::bad_alloc();
    }
    room_.reset(static_cast<std::byte*>(room));
    room_bytes_ = end - begin;
  }
  int64_t filled = 0;
  while (begin + filled < offset + size) {
    const ssize_t got = ::pread(descriptor_, room_.get() + filled,
                                static_cast<size_t>(end - begin - filled), begin + filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EINVAL && direct_) {
      RESMEM_RETURN_IF_ERROR(Reopen());  // this disk wants another alignment
      continue;
    }
    if (got < 0) return ReadError(path_, "read", errno);
    if (got == 0) {
      return Status(ErrorCode::kCorrupt, Text(path_, ": ends at ", begin + filled,
                                              " bytes, expected ", offset + size, " or more"));
    }
    filled += got;
    // The last page of a file is short; what follows would no longer be aligned.
    if (got % kPage != 0 && direct_ && begin + filled < offset + size) {
      RESMEM_RETURN_IF_ERROR(Reopen());
    }
  }
  // What the cache took in for this goes out again; a page that others have mapped stays.
  if (!direct_) ::posix_fadvise(descriptor_, begin, filled, POSIX_FADV_DONTNEED);
  return std::span<const std::byte>(room_.get() + (offset - begin), static_cast<size_t>(size));
}

}  // namespace resmem
