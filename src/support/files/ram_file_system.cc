#include "support/files/ram_file_system.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "support/text.h"

namespace resmem {
namespace {

constexpr std::string_view kRamPrefix = "ram:";

// Bytes that start at a page, as those of a mapped file do.
class PageBuffer {
 public:
  PageBuffer() = default;
  PageBuffer(const PageBuffer&) = delete;
  PageBuffer& operator=(const PageBuffer&) = delete;
  ~PageBuffer() {
    if (data_ != nullptr) ::munmap(data_, capacity_);
  }

  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }

  // False where the system has no more memory; the bytes are then as they were.
  bool Write(size_t offset, std::span<const std::byte> bytes) {
    const size_t end = offset + bytes.size();
    if (end < offset || !Reserve(end)) return false;
    if (!bytes.empty()) std::memcpy(data_ + offset, bytes.data(), bytes.size());
    size_ = std::max(size_, end);
    return true;
  }

  // Gives back what was reserved beyond the last byte.
  void Trim() {
    const size_t wanted = WholePages(size_);
    if (wanted > 0 && wanted < capacity_) Resize(wanted);
  }

 private:
  static size_t WholePages(size_t bytes) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
  }

  bool Reserve(size_t bytes) {
    if (bytes <= capacity_) return true;
    const size_t wanted = WholePages(bytes);
    if (wanted < bytes) return false;
    // Twice as much each time; pages that nobody writes to take no memory.
    return Resize(std::max(wanted, 2 * capacity_)) || Resize(wanted);
  }

  bool Resize(size_t capacity) {
    void* data = data_ == nullptr ? ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                  : ::mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
    if (data == MAP_FAILED) return false;
    data_ = static_cast<std::byte*>(data);
    capacity_ = capacity;
    return true;
  }

  std::byte* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

using FilePointer = std::shared_ptr<PageBuffer>;

Status NoSuchFile(const std::string& path) {
  return {ErrorCode::kNotFound, Text(path, ": no such file in this process's memory")};
}

class RamFileSystem final : public FileSystem {
 public:
  RamFileSystem() {
    // A thread of the parent may be in here while another forks: the child must find it in order.
    ::pthread_atfork([] { Shared().mutex_.lock(); }, [] { Shared().mutex_.unlock(); },
                     [] { Shared().mutex_.unlock(); });
  }
  static RamFileSystem& Shared() {
    static RamFileSystem& files = *new RamFileSystem;  // outlives every other static object
    return files;
  }

  Result<std::unique_ptr<WritableFile>> Create(const std::string& path,
                                               const std::string& /*mode_of*/) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!folders_.contains(ParentDirectory(path))) return NoSuchFile(path);
    files_[path] = std::make_shared<PageBuffer>();
    return std::unique_ptr<WritableFile>(new File(this, path));
  }

  Result<std::unique_ptr<WritableFile>> Reopen(const std::string& path) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!files_.contains(path)) return NoSuchFile(path);
    return std::unique_ptr<WritableFile>(new File(this, path));
  }

  Result<MappedFile> Map(const std::string& path) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto file = files_.find(path);
    if (file == files_.end()) return NoSuchFile(path);
    if (file->second->size() == 0) return MappedFile();
    return MappedFile(file->second, file->second->data(), file->second->size());
  }

  Status Rename(const std::string& from, const std::string& to) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto file = files_.extract(from);
    if (file.empty()) return NoSuchFile(from);
    files_[to] = std::move(file.mapped());
    return {};
  }

  Status Link(const std::string& from, const std::string&) override {
    return {ErrorCode::kUnsupported, Text(from, ": files in memory have one name")};
  }

  Status Remove(const std::string& path) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (files_.erase(path) > 0) return {};
    if (!folders_.contains(path)) return NoSuchFile(path);
    if (FirstIn(path) != files_.end()) {
      return {ErrorCode::kIo, Text(path, ": cannot remove: the folder is not empty")};
    }
    folders_.erase(path);
    return {};
  }

  Status MakeDirectory(const std::string& path) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!reserved_.contains(path)) {
      return {ErrorCode::kNotFound,
              Text(path,
                   ": names no memory in RAM of this process; for a folder on disk of that "
                   "name give ./",
                   path)};
    }
    folders_.insert(path);
    return {};
  }

  Status SyncDirectory(const std::string&) override { return {}; }

  Result<std::vector<std::string>> List(const std::string& directory) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!folders_.contains(directory)) return NoSuchFile(directory);
    std::vector<std::string> names;
    const size_t prefix = directory.size() + 1;
    for (auto file = FirstIn(directory); file != files_.end(); file = Next(file, directory)) {
      names.push_back(file->first.substr(prefix));
    }
    return names;
  }

  bool Exists(const std::string& path) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return files_.contains(path) || folders_.contains(path);
  }

  bool IsDirectory(const std::string& path) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return folders_.contains(path);
  }

  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!folders_.contains(ParentDirectory(path))) return NoSuchFile(path);
    if (!locks_.insert(path).second) {
      return Status(ErrorCode::kResourceExhausted,
                    Text(path, ": held by another thread that is changing this memory; try again ",
                         "when it has finished"));
    }
    return std::unique_ptr<FileLock>(new HeldLock(this, path));
  }

  std::string NewFolder() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string path = Text(kRamPrefix, ++last_folder_);
    reserved_.insert(path);
    return path;
  }

  void RemoveFolder(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto file = FirstIn(path); file != files_.end(); file = FirstIn(path)) files_.erase(file);
    folders_.erase(path);
    reserved_.erase(path);
  }

 private:
  using Files = std::map<std::string, FilePointer>;

  class File final : public WritableFile {
   public:
    File(RamFileSystem* owner, std::string path) : owner_(owner), path_(std::move(path)) {}
    Status Write(int64_t offset, std::span<const std::byte> bytes) override {
      return owner_->Write(path_, static_cast<size_t>(offset), bytes);
    }
    Status Sync() override { return {}; }
    Status Close() override { return owner_->Close(path_); }

   private:
    RamFileSystem* owner_;
    std::string path_;
  };

  class HeldLock final : public FileLock {
   public:
    HeldLock(RamFileSystem* owner, std::string path) : owner_(owner), path_(std::move(path)) {}
    ~HeldLock() override {
      const std::lock_guard<std::mutex> lock(owner_->mutex_);
      owner_->locks_.erase(path_);
    }

   private:
    RamFileSystem* owner_;
    std::string path_;
  };

  // The buffer of the file, which may be changed: nobody has it mapped.
  Result<PageBuffer*> Changeable(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto file = files_.find(path);
    if (file == files_.end()) return NoSuchFile(path);
    if (file->second.use_count() > 1) {
      auto copy = std::make_shared<PageBuffer>();
      if (!copy->Write(0, {file->second->data(), file->second->size()})) return Full(path);
      file->second = std::move(copy);
    }
    return file->second.get();
  }

  Status Write(const std::string& path, size_t offset, std::span<const std::byte> bytes) {
    // Unlocked while bytes are copied: a file that is being written has one writer and no reader.
    RESMEM_ASSIGN_OR_RETURN(PageBuffer* const buffer, Changeable(path));
    return buffer->Write(offset, bytes) ? Status() : Full(path);
  }

  Status Close(const std::string& path) {
    RESMEM_ASSIGN_OR_RETURN(PageBuffer* const buffer, Changeable(path));
    buffer->Trim();
    return {};
  }

  static Status Full(const std::string& path) {
    return {ErrorCode::kResourceExhausted,
            Text(path,
                 ": cannot write: the system has no more memory; give the memory a path on "
                 "disk")};
  }

  Files::iterator FirstIn(const std::string& folder) {
    const auto file = files_.lower_bound(folder + "/");
    return file != files_.end() && file->first.starts_with(folder + "/") ? file : files_.end();
  }
  Files::iterator Next(Files::iterator file, const std::string& folder) {
    ++file;
    return file != files_.end() && file->first.starts_with(folder + "/") ? file : files_.end();
  }

  std::mutex mutex_;  // guards all below, but not the bytes of a file
  Files files_;
  std::set<std::string> reserved_, folders_, locks_;
  int64_t last_folder_ = 0;
};

}  // namespace

FileSystem& RamFiles() {
  return RamFileSystem::Shared();
}
bool IsRamPath(const std::string& path) {
  return path.starts_with(kRamPrefix);
}
std::string NewRamFolder() {
  return RamFileSystem::Shared().NewFolder();
}
void RemoveRamFolder(const std::string& path) {
  RamFileSystem::Shared().RemoveFolder(path);
}

FileSystem& FileSystem::Of(const std::string& path) {
  return IsRamPath(path) ? RamFiles() : Posix();
}

}  // namespace resmem
