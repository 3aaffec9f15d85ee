// The changes of resmem/residual_memory.h over any file system.
#ifndef RESMEM_MEMORY_MEMORY_CHANGES_H_
#define RESMEM_MEMORY_MEMORY_CHANGES_H_

#include <cstdint>
#include <span>
#include <string>

#include "resmem/residual_memory.h"
#include "support/file_system.h"

namespace resmem {

Status DeleteRows(FileSystem& files, const std::string& path, std::span<const uint64_t> ids,
                  const ChangeOptions& options = {});
Status CompactMemory(FileSystem& files, const std::string& path, const CompactOptions& options);
Status UpdateDescription(FileSystem& files, const std::string& path,
                         const MemoryDescription& description, const ChangeOptions& options = {});
// Where segments are many, copies small neighbors among them into one, deleted rows too: row
// numbers, and with them the index and the answers, stay.
Status MergeSegments(FileSystem& files, const std::string& path, const ChangeOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_MEMORY_MEMORY_CHANGES_H_
