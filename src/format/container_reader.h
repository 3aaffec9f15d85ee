// A container file (docs/memory_format.md, section 2), mapped and checked.
//
// After Open() the table can be trusted: every section lies inside the file, has the size
// that its shape says, and is aligned to 64 bytes.  The values can be trusted after
// VerifyBlocks(), or where Require() was called before they were read: each block is then checked
// once.  Const methods may be called from any number of threads.  Copies share the map, and what
// was found sound.
#ifndef RESMEM_FORMAT_CONTAINER_READER_H_
#define RESMEM_FORMAT_CONTAINER_READER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/format.h"
#include "resmem/progress.h"
#include "resmem/status.h"
#include "support/check.h"
#include "support/file_system.h"

namespace resmem {

class ContainerReader {
 public:
  struct Section {
    SectionShape shape;
    int64_t offset = 0;       // in the file
    int64_t bytes = 0;        // of the values
    int64_t extent = 0;       // with the padding after them
    int64_t first_block = 0;  // its checksums start here
  };

  // Errors: kNotFound, kCorrupt, kTooNew, kIo.
  static Result<ContainerReader> Open(FileSystem& files, const std::string& path, FileKind kind);

  const std::string& path() const { return path_; }
  int64_t file_bytes() const { return static_cast<int64_t>(file_->bytes().size()); }
  uint64_t header_hash() const { return header_hash_; }
  // All but the checksums.
  const std::vector<Section>& sections() const { return sections_; }
  int64_t blocks() const { return static_cast<int64_t>(checksums_.size()); }

  // The values of a section whose element type is T.
  template <typename T>
  std::span<const T> Values(size_t section) const {
    const Section& s = sections_[section];
    RESMEM_DCHECK(StoredBytes(s.shape.type) == sizeof(T));
    return {reinterpret_cast<const T*>(file_->bytes().data() + s.offset),
            static_cast<size_t>(s.bytes) / sizeof(T)};
  }

  std::span<const std::byte> Bytes(size_t section) const {
    return file_->bytes().subspan(static_cast<size_t>(sections_[section].offset),
                                  static_cast<size_t>(sections_[section].bytes));
  }

  // kCorrupt unless the sections are exactly these.
  Status ExpectSections(const std::vector<SectionShape>& expected) const;

  // Compares the checksums of one section, or of all; floats must be finite.
  Status VerifySection(size_t section) const;
  Status VerifyBlocks(Progress* progress = nullptr) const;

  // Before bytes [begin, begin + size) of a section are read: compares the checksums of their
  // blocks, unless that was done.  Throws StatusError where one is wrong.
  void Require(size_t section, int64_t begin, int64_t size) const {
    if (!checked()) RequireBlocks(section, begin, size);
  }
  // Every block was found sound.
  bool checked() const { return states_->unchecked.load(std::memory_order_acquire) == 0; }

  // Block [0, blocks()) lies at these bytes of the file.
  struct Place {
    int64_t offset = 0, bytes = 0;
  };
  Place PlaceOfBlock(int64_t block) const;
  // Of the bytes of a block that were read in another way.
  Status VerifyBlockBytes(int64_t block, std::span<const std::byte> bytes) const;

  // Bytes [begin, begin + size) of a section will not be read again soon.
  void Drop(size_t section, int64_t begin, int64_t size) const;

  // A kCorrupt status that names this file: `problem` is what was found and expected.
  Status Corrupt(const std::string& problem) const;

 private:
  ContainerReader() = default;
  Status ReadHeader(FileKind kind);
  Status ReadTable(const FileHeader& header);
  Status CheckEntry(const SectionEntry& entry, int64_t expected_offset) const;
  Status CheckPadding() const;
  size_t SectionOf(int64_t block) const;
  Status VerifyBlock(int64_t block) const;
  void RequireBlocks(size_t section, int64_t begin, int64_t size) const;
  // Blocks [begin, end) of all sections together, in parallel; the first failure in file order.
  Status VerifyRange(int64_t begin, int64_t end) const;

  std::string path_;
  FileKind kind_{};  // expected
  std::shared_ptr<const MappedFile> file_;
  uint64_t header_hash_ = 0;
  std::vector<Section> sections_;
  std::span<const uint64_t> checksums_;

  // Which blocks were found sound since the file was opened.
  struct BlockStates {
    explicit BlockStates(size_t blocks)
        : unchecked(static_cast<int64_t>(blocks)), checked(blocks) {}
    std::atomic<int64_t> unchecked;
    std::vector<std::atomic<bool>> checked;
  };
  std::shared_ptr<BlockStates> states_;
};

}  // namespace resmem

#endif  // RESMEM_FORMAT_CONTAINER_READER_H_
