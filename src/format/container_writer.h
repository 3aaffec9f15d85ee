// Writes a container file (docs/memory_format.md, section 2) front to back in each section,
// the sections in any interleaving, holding at most one block of each in memory.
//
// The bytes go to `path` + ".tmp" for files of a memory, else to TemporaryName(path); Finish()
// syncs, renames and syncs the folder.  Destruction without it removes the temporary file.
#ifndef RESMEM_FORMAT_CONTAINER_WRITER_H_
#define RESMEM_FORMAT_CONTAINER_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/format.h"
#include "resmem/status.h"
#include "support/file_system.h"

namespace resmem {

inline constexpr char kTemporarySuffix[] = ".tmp";

class ContainerWriter {
 public:
  // The rows of a section may be kAsAppended: it grows with what is appended.  Sections behind the
  // first that grows are held in memory until Finish(); let the largest be the first.
  static constexpr int64_t kAsAppended = -1;
  // It gets the mode of the file that it replaces; one of a memory, that of the manifest.
  static Result<ContainerWriter> Create(FileSystem& files, const std::string& path, FileKind kind,
                                        std::vector<SectionShape> sections);
  ContainerWriter(ContainerWriter&&) noexcept;
  ContainerWriter& operator=(ContainerWriter&&) = delete;
  ~ContainerWriter();

  Status Append(size_t section, std::span<const std::byte> bytes);
  template <typename T>
  Status AppendValues(size_t section, std::span<const T> values) {
    return Append(section, std::as_bytes(values));
  }

  struct Finished {
    int64_t file_bytes = 0;
    uint64_t header_hash = 0;
  };
  // Requires every section to be full.  `*renamed` is set as soon as the file has its name: what
  // fails after that fails with the new file in place.
  Result<Finished> Finish(bool* renamed = nullptr);

 private:
  struct Stream {
    SectionShape shape;
    int64_t offset = 0;    // -1 where one before it grows
    int64_t bytes = 0;     // expected; -1 where it grows
    int64_t appended = 0;  // by the caller
    int64_t written = 0;   // to the file
    std::vector<std::byte> pending;
    std::vector<uint64_t> hashes;
  };
  ContainerWriter(FileSystem& files, std::string path, FileKind kind);
  void RemoveTemporary();
  Status WriteBlock(Stream* stream, std::span<const std::byte> block);
  Status WriteFull(Stream* stream);
  Status PadAndFlush(Stream* stream);
  std::vector<std::byte> MakeHeader(std::span<const uint64_t> checksums, Finished* finished) const;

  FileSystem* files_;
  std::string path_, temporary_, folder_;
  FileKind kind_;
  std::vector<Stream> streams_;
  std::unique_ptr<WritableFile> file_;
  bool temporary_exists_ = false;
};

}  // namespace resmem

#endif  // RESMEM_FORMAT_CONTAINER_WRITER_H_
