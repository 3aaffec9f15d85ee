// The bytes that arrays lie in: a mapped file, or the memory that a compressed one was
// inflated to.  Shared by every array opened from them; immutable.
#ifndef RESMEM_DATA_FILE_BYTES_H_
#define RESMEM_DATA_FILE_BYTES_H_

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "support/file_system.h"

namespace resmem {

using ByteSpan = std::span<const std::byte>;

class FileBytes {
 public:
  explicit FileBytes(MappedFile file) : file_(std::move(file)), bytes_(file_.bytes()) {}
  FileBytes(std::unique_ptr<std::byte[]> memory, size_t size)
      : memory_(std::move(memory)), bytes_(memory_.get(), size) {}

  ByteSpan bytes() const { return bytes_; }

  // Gives back the pages of a range that was read; memory stays.  The range is widened to the
  // front because the kernel maps up to 64 KiB around a fault: what it mapped there was read
  // before, and would stay resident otherwise.
  void Drop(size_t offset, size_t size) const {
    if (memory_ != nullptr) return;
    constexpr size_t kFaultAround = 64 << 10;
    const size_t back = offset < kFaultAround ? offset : kFaultAround;
    file_.Drop(offset - back, size + back);
  }

 private:
  MappedFile file_;
  std::unique_ptr<std::byte[]> memory_;
  ByteSpan bytes_;
};

using SharedBytes = std::shared_ptr<const FileBytes>;

}  // namespace resmem

#endif  // RESMEM_DATA_FILE_BYTES_H_
