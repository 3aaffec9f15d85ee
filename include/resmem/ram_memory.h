// A memory without a path on disk: it lives in this process's memory, and can be saved later.
//
//   RamFolder folder;
//   auto writer = MemoryWriter::Create(folder.path(), description, rows, {});
//   ...                                                  // Add(), Finish(), Open(), Tune(): as
//   ever Status saved = CopyMemory(folder.path(), "my.resmem");
//
// Everything that takes a memory's path takes folder.path(): the files are the same bytes as on
// disk, and go through the same checks (docs/decisions/memory_in_ram.md).
#ifndef RESMEM_RAM_MEMORY_H_
#define RESMEM_RAM_MEMORY_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "resmem/progress.h"
#include "resmem/status.h"

namespace resmem {

// One file of a memory.
struct MemoryFile {
  std::string name;  // "MANIFEST", "segment-000001.resmem", ...
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner{};  // keeps the bytes alive
};

// A place for one memory.  The memory is gone with this object, but who has it open keeps it.
class RamFolder {
 public:
  RamFolder();
  ~RamFolder();
  RamFolder(RamFolder&& other) noexcept;
  RamFolder& operator=(RamFolder&& other) noexcept;

  // "ram:7", for this process only; never given twice.
  const std::string& path() const { return path_; }

  // Puts the files of a memory here, as ReadMemoryFiles() gave them: for memories that come from
  // another process.  They are hostile until ResidualMemory::Open() has checked them.
  // Errors: kBadData (a name that no file of a memory has), kResourceExhausted.
  Status Fill(std::span<const MemoryFile> files);

 private:
  std::string path_;
};

// The files that count, of a memory on disk or in RAM, in one consistent state; MANIFEST is first.
Result<std::vector<MemoryFile>> ReadMemoryFiles(const std::string& path);

struct CopyOptions {
  bool overwrite = false;  // replace an existing memory at `to`; nothing else ever is
  Progress* progress = nullptr;
};
// A second memory that answers bit for bit as the first: from disk or RAM, to disk or RAM.  Every
// checksum of the first is compared before.  At `to` the memory appears whole or not at all.
Status CopyMemory(const std::string& from, const std::string& to, const CopyOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_RAM_MEMORY_H_
