// Every system call that touches files goes through here, so that a test can make any one
// of them fail.  Messages name the path and what the system said.
#ifndef RESMEM_SUPPORT_FILE_SYSTEM_H_
#define RESMEM_SUPPORT_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "resmem/status.h"

namespace resmem {

// Written at any offset; closed without Sync() its content may be lost in a crash.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status Write(int64_t offset, std::span<const std::byte> bytes) = 0;
  virtual Status Sync() = 0;
  virtual Status Close() = 0;
};

// A whole file, mapped read-only until destruction; a small one is read instead, since a process
// may have some 65,000 mappings only.  The start is page-aligned.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  // Bytes that `owner` keeps alive, instead of a mapping of our own.
  MappedFile(std::shared_ptr<const void> owner, const std::byte* data, size_t size)
      : data_(data), size_(size), owner_(std::move(owner)) {}
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // The range will not be read again soon: whole pages inside it may leave memory.
  void Drop(size_t offset, size_t size) const;
  // The file will be read from front to back.
  void ReadAhead() const;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<const void> owner_;
};

// Held until destruction, which removes the file.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  static FileSystem& Posix();
  // Posix(), or for paths that start with "ram:" the files in this process's memory
  // (ram_file_system.h).
  static FileSystem& Of(const std::string& path);

  // A new file, which the writer holds locked until it is closed: one of that name that nobody
  // holds any more, as a killed process leaves it, is removed first; one that is held is
  // kResourceExhausted, so two writers never share it.  Where `mode_of` is a file, the new one
  // gets its owner and mode.  Messages about a TemporaryName() give the name that it will have.
  virtual Result<std::unique_ptr<WritableFile>> Create(const std::string& path,
                                                       const std::string& mode_of) = 0;
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) { return Create(path, ""); }
  // For writing at any offset; what it holds stays.
  virtual Result<std::unique_ptr<WritableFile>> Reopen(const std::string& path) = 0;
  virtual Result<MappedFile> Map(const std::string& path) = 0;  // kNotFound, kIo
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // A second name of the same file.  kUnsupported where the file system has none to give.
  virtual Status Link(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;         // a file or an empty folder
  virtual Status MakeDirectory(const std::string& path) = 0;  // existing: ok
  virtual Status SyncDirectory(const std::string& path) = 0;
  virtual Result<std::vector<std::string>> List(const std::string& directory) = 0;  // names, sorted
  virtual bool Exists(const std::string& path) = 0;
  virtual bool IsDirectory(const std::string& path) = 0;
  // Fails at once with kResourceExhausted where another process holds the lock.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
};

// The folder part of a path: "." where it has none.
std::string ParentDirectory(const std::string& path);

// Where a chain of symbolic links ends, whether or not something is there.
std::string FollowLinks(const std::string& path);
// Something that a file of ours must not be renamed over.
bool IsDeviceOrPipe(const std::string& path);

// A device or pipe, written front to back.
Result<std::unique_ptr<WritableFile>> OpenStream(const std::string& path);

// The name that the file `path` has while it is written.  One for all writers: each finds out
// whether another is at work, and the next one takes what a killed one left.
std::string TemporaryName(const std::string& path);

// Write to a temporary name beside `path`, sync, rename, sync the folder.  Of a symbolic link
// the target is replaced; a device or pipe is written directly.
Status WriteFileAtomically(FileSystem& files, const std::string& path,
                           std::span<const std::byte> bytes);
// The same for content that `write` makes piece by piece; its error leaves `path` as it was.
Status WriteFileAtomically(FileSystem& files, const std::string& path,
                           const std::function<Status(WritableFile&)>& write);

}  // namespace resmem

#endif  // RESMEM_SUPPORT_FILE_SYSTEM_H_
