#include "support/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "resmem_program/system_error.h"
#include "support/files/mapped_regions.h"
#include "support/files/modes.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr char kOutputSuffix[] = ".resmem-tmp";

Status SystemError(const std::string& path, const char* what, int error) {
  ErrorCode code = CodeOfSystemError(error);
  if (error == ENOENT || error == ENOTDIR) code = ErrorCode::kNotFound;
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {code, Text(path, ": cannot ", what, ": ", std::strerror(error),
                     full ? "; free some space, or choose another place" : "")};
}

class PosixOutput : public WritableFile {
 public:
  PosixOutput(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~PosixOutput() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  Status Close() override {
    const int descriptor = std::exchange(descriptor_, -1);
    if (descriptor >= 0 && ::close(descriptor) != 0) return SystemError(path_, "close", errno);
    return {};
  }

 protected:
  int descriptor_;
  std::string path_;
};

class PosixFile final : public PosixOutput {
 public:
  using PosixOutput::PosixOutput;

  Status Write(int64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
      if (written < 0) {
        if (errno == EINTR) continue;
        return SystemError(path_, "write", errno);
      }
      bytes = bytes.subspan(static_cast<size_t>(written));
      offset += written;
    }
    return {};
  }

  Status Sync() override {
    if (::fsync(descriptor_) != 0) return SystemError(path_, "sync", errno);
    return {};
  }
};

// A device or pipe: written front to back, and neither emptied nor synced.
class PosixStream final : public PosixOutput {
 public:
  using PosixOutput::PosixOutput;

  Status Write(int64_t offset, std::span<const std::byte> bytes) override {
    if (offset != position_) {
      return {ErrorCode::kUnsupported,
              Text(path_, ": not a regular file, so it cannot be written out of order")};
    }
    position_ += static_cast<int64_t>(bytes.size());
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        if (errno == EPIPE) return {ErrorCode::kCancelled, Text(path_, ": its reader left")};
        return SystemError(path_, "write", errno);
      }
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return {};
  }

  Status Sync() override { return {}; }

 private:
  int64_t position_ = 0;
};

class PosixLock final : public FileLock {
 public:
  PosixLock(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~PosixLock() override {
    ::unlink(path_.c_str());
    ::close(descriptor_);  // releases it
  }

 private:
  int descriptor_;
  std::string path_;
};

// The file's first `size` bytes, page-aligned; null with errno.
void* ReadAll(int descriptor, size_t size) {
  constexpr size_t kLine = 4096;
  void* data = std::aligned_alloc(kLine, (size + kLine - 1) / kLine * kLine);
  if (data == nullptr) errno = ENOMEM;
  size_t done = 0;
  while (data != nullptr && done < size) {
    const ssize_t got = ::pread(descriptor, static_cast<std::byte*>(data) + done, size - done,
                                static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (got == 0) errno = EIO;  // cut since it was measured
      const int error = errno;
      std::free(data);
      errno = error;
      return nullptr;
    }
    done += static_cast<size_t>(got);
  }
  return data;
}

// Whether `descriptor` is the file that has the name now.
bool IsNamed(int descriptor, const std::string& path) {
  struct stat ours {
  }, named{};
  return ::fstat(descriptor, &ours) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

// False where another holds it.  A file system without locks has nothing to tell.
bool TakeLock(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

// Takes the name from a file whose writer is gone; kResourceExhausted where it is at work.
Status RemoveAbandoned(const std::string& path, const std::string& name) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (S_ISREG(found.st_mode)) {
    int descriptor = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0 && errno == EACCES) {
      descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (descriptor < 0) return errno == ENOENT ? Status() : SystemError(path, "open", errno);
    if (!TakeLock(descriptor)) {
      ::close(descriptor);
      return {ErrorCode::kResourceExhausted,
              Text(name, ": another process is writing it; try again when it has finished")};
    }
    // Renamed, or removed and made again, since we opened it: then it is not ours to remove.
    const bool failed = IsNamed(descriptor, path) && ::unlink(path.c_str()) != 0;
    const int error = errno;
    ::close(descriptor);
    return failed ? SystemError(path, "remove", error) : Status();
  }
  if (S_ISLNK(found.st_mode) && ::unlink(path.c_str()) == 0) return {};
  return {ErrorCode::kIo, Text(path, ": is in the way and not a file; remove it")};
}

void TakeOwnerAndMode(int descriptor, const struct stat& of) {
  struct stat ours {};
  // Only root may give a file away; the mode must not open it to another group then.
  const bool same_group =
      ::fstat(descriptor, &ours) == 0 &&
      ((ours.st_uid == of.st_uid && ours.st_gid == of.st_gid) ||
       ::fchown(descriptor, of.st_uid, of.st_gid) == 0 || ours.st_gid == of.st_gid);
  const mode_t kept = S_ISDIR(of.st_mode) ? 07000 : 0;
  (void)::fchmod(descriptor, of.st_mode & (kept | (same_group ? 0777 : 0707)));
}

}  // namespace

void TakeModeOf(const std::string& of, const std::string& path) noexcept {
  struct stat info {};
  if (::stat(of.c_str(), &info) != 0) return;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return;
  TakeOwnerAndMode(descriptor, info);
  ::close(descriptor);
}

void MakePrivate(const std::string& path) noexcept {
  (void)::chmod(path.c_str(), 0700);
}

namespace {

// The mode of a lock: whoever may change what is in its folder may take one that a killed process
// left there, and nobody else learns of it.
mode_t LockMode(const std::string& path) {
  struct stat folder {};
  if (::stat(ParentDirectory(path).c_str(), &folder) != 0) return 0600;
  return (folder.st_mode & 0664) | 0600;
}

class PosixFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path,
                                               const std::string& mode_of) override {
    const std::string name = path.ends_with(kOutputSuffix)
                                 ? path.substr(0, path.size() - sizeof(kOutputSuffix) + 1)
                                 : path;
    struct stat before {};
    const bool keeps_mode =
        !mode_of.empty() && ::stat(mode_of.c_str(), &before) == 0 && S_ISREG(before.st_mode);
    constexpr int kMostTries = 1000;  // each lost to another writer
    for (int tries = 0; tries < kMostTries; ++tries) {
      const int descriptor =
          ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 keeps_mode ? 0600 : 0666);
      if (descriptor < 0 && errno != EEXIST) return SystemError(name, "create", errno);
      if (descriptor < 0) {
        RESMEM_RETURN_IF_ERROR(RemoveAbandoned(path, name));
      } else if (TakeLock(descriptor) && IsNamed(descriptor, path)) {
        if (keeps_mode) TakeOwnerAndMode(descriptor, before);
        return std::unique_ptr<WritableFile>(new PosixFile(descriptor, name));
      } else {
        ::close(descriptor);  // another took it for abandoned before we locked it
      }
    }
    return Status(ErrorCode::kResourceExhausted,
                  Text(name, ": too many processes are writing it; try again"));
  }

  Result<std::unique_ptr<WritableFile>> Reopen(const std::string& path) override {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return SystemError(path, "open", errno);
    return std::unique_ptr<WritableFile>(new PosixFile(descriptor, path));
  }

  Result<MappedFile> Map(const std::string& path) override {
    // Not blocking, or a pipe without a writer would keep us here before it can be refused.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return SystemError(path, "open", errno);
    struct stat info {};
    if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
      ::close(descriptor);
      return Status(ErrorCode::kIo, Text(path, ": not a regular file, which is needed to map it"));
    }
    const auto size = static_cast<size_t>(info.st_size);
    if (size == 0) {
      ::close(descriptor);
      return MappedFile();
    }
    constexpr size_t kSmall = size_t{32} << 10;
    const bool small = size <= kSmall;
    void* data = small ? ReadAll(descriptor, size)
                       : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    const int error = errno;
    ::close(descriptor);
    if (data == MAP_FAILED || data == nullptr) {
      return SystemError(path, small ? "read" : "map", error);
    }
    const auto* bytes = static_cast<const std::byte*>(data);
    if (small) return MappedFile(std::shared_ptr<const void>(data, std::free), bytes, size);
    MappedFile file(bytes, size);
    AddMappedRegion(bytes, size, path);
    return file;
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return SystemError(from, "rename", errno);
    return {};
  }

  Status Link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) == 0) return {};
    const int error = errno;
    const bool unable = error == EPERM || error == EMLINK || error == EXDEV ||
                        error == EOPNOTSUPP || error == ENOSYS;
    if (!unable) return SystemError(from, "link", error);
    return {ErrorCode::kUnsupported, Text(from, ": cannot link: ", std::strerror(error))};
  }

  Status Remove(const std::string& path) override {
    if (::remove(path.c_str()) != 0) return SystemError(path, "remove", errno);
    return {};
  }

  Status MakeDirectory(const std::string& path) override {
    if (::mkdir(path.c_str(), 0755) == 0) return {};
    const int error = errno;
    if (error == EEXIST && IsDirectory(path)) return {};
    return SystemError(path, "create the folder", error);
  }

  Status SyncDirectory(const std::string& path) override {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return SystemError(path, "open the folder", errno);
    const int failed = ::fsync(descriptor);
    const int error = errno;
    ::close(descriptor);
    if (failed != 0) return SystemError(path, "sync the folder", error);
    return {};
  }

  Result<std::vector<std::string>> List(const std::string& directory) override {
    DIR* stream = ::opendir(directory.c_str());
    if (stream == nullptr) return SystemError(directory, "list the folder", errno);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    ::closedir(stream);
    std::sort(names.begin(), names.end());
    return names;
  }

  bool Exists(const std::string& path) override {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0;
  }

  bool IsDirectory(const std::string& path) override {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  }

  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    while (true) {
      const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
      if (descriptor < 0) return SystemError(path, "create the lock", errno);
      if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        const int error = errno;
        ::close(descriptor);
        if (error != EWOULDBLOCK) return SystemError(path, "lock", error);
        return Status(
            ErrorCode::kResourceExhausted,
            Text(path, ": held by another process that is at work here; try again when it ",
                 "has finished"));
      }
      // The holder before us may have removed the file between our open and our lock: then
      // somebody else can lock a new one of that name.
      if (IsNamed(descriptor, path)) {
        (void)::fchmod(descriptor, LockMode(path));  // another's, left by a kill, stays as it is
        return std::unique_ptr<FileLock>(new PosixLock(descriptor, path));
      }
      ::close(descriptor);
    }
  }
};

}  // namespace

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      owner_(std::move(other.owner_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(owner_, other.owner_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr || owner_ != nullptr) return;
  RemoveMappedRegion(data_);
  ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::Drop(size_t offset, size_t size) const {
  if (owner_ != nullptr) return;  // there is no file to read dropped pages from
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t begin = (offset + page - 1) / page * page;
  const size_t end = std::min(size_, offset + size) / page * page;
  if (begin >= end) return;
  // Read-only and private: the kernel reads dropped pages from the file again when needed.
  ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

void MappedFile::ReadAhead() const {
  if (data_ != nullptr && owner_ == nullptr) {
    ::madvise(const_cast<std::byte*>(data_), size_, MADV_SEQUENTIAL);
  }
}

FileSystem& FileSystem::Posix() {
  static PosixFileSystem files;
  return files;
}

std::string ParentDirectory(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string FollowLinks(const std::string& path) {
  std::string target = path;
  constexpr int kMostLinks = 40;  // the kernel's own limit
  for (int links = 0; links < kMostLinks; ++links) {
    std::string next(PATH_MAX, '\0');
    const ssize_t length = ::readlink(target.c_str(), next.data(), next.size());
    if (length <= 0) break;
    next.resize(static_cast<size_t>(length));
    target = next.front() == '/' ? next : ParentDirectory(target) + "/" + next;
  }
  return target;
}

bool IsDeviceOrPipe(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

Result<std::unique_ptr<WritableFile>> OpenStream(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(path, "open", errno);
  return std::unique_ptr<WritableFile>(new PosixStream(descriptor, path));
}

std::string TemporaryName(const std::string& path) {
  return path + kOutputSuffix;
}

Status WriteFileAtomically(FileSystem& files, const std::string& path,
                           std::span<const std::byte> bytes) {
  return WriteFileAtomically(files, path, [&](WritableFile& file) { return file.Write(0, bytes); });
}

Status WriteFileAtomically(FileSystem& files, const std::string& path,
                           const std::function<Status(WritableFile&)>& write) {
  if (IsDeviceOrPipe(path)) {
    RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> stream, OpenStream(path));
    RESMEM_RETURN_IF_ERROR(write(*stream));
    return stream->Close();
  }
  const std::string target = FollowLinks(path);
  const std::string temporary = TemporaryName(target);
  const std::string folder = ParentDirectory(target);
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                          files.Create(temporary, target));
  // The file stays open, and with it locked, until it has its name: else another writer could
  // take the temporary one for abandoned.
  auto replace = [&]() -> Status {
    RESMEM_RETURN_IF_ERROR(write(*file));
    RESMEM_RETURN_IF_ERROR(file->Sync());
    return files.Rename(temporary, target);
  };
  Status status;
  try {
    status = replace();
  } catch (...) {
    (void)files.Remove(temporary).ok();
    throw;
  }
  // Best effort: the first error is the one to tell.
  if (!status.ok()) (void)files.Remove(temporary).ok();
  return status.ok() ? files.SyncDirectory(folder) : status;
}

}  // namespace resmem
