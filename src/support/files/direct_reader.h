// Reads a file from its disk rather than from the page cache, where the file system can.
#ifndef RESMEM_SUPPORT_FILES_DIRECT_READER_H_
#define RESMEM_SUPPORT_FILES_DIRECT_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "resmem/status.h"

namespace resmem {

class DirectReader {
 public:
  static Result<DirectReader> Open(const std::string& path);
  DirectReader(DirectReader&& other) noexcept;
  DirectReader& operator=(DirectReader&&) = delete;
  ~DirectReader();

  // Valid until the next call.  kCorrupt where the file ends before, kIo.
  Result<std::span<const std::byte>> Read(int64_t offset, int64_t size);
  // Every byte so far came from the disk itself.
  bool past_cache() const { return direct_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  DirectReader(std::string path, int descriptor, bool direct);
  Status Reopen();

  std::string path_;
  int descriptor_ = -1;
  bool direct_ = false;
  std::unique_ptr<std::byte[], Free> room_;
  int64_t room_bytes_ = 0;
};

}  // namespace resmem

#endif  // RESMEM_SUPPORT_FILES_DIRECT_READER_H_
