// The file of deleted rows: docs/memory_format.md, section 4.
#ifndef RESMEM_MEMORY_ROWS_DELETIONS_H_
#define RESMEM_MEMORY_ROWS_DELETIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "memory/manifest/manifest.h"
#include "support/file_system.h"

namespace resmem {

// Ascending row numbers, all less than `stored_rows`, checked with every checksum.
Result<std::vector<int64_t>> ReadDeletions(FileSystem& files, const std::string& folder,
                                           const FileRecord& record, int64_t stored_rows);

// `rows`: ascending, at least one.
Result<FileRecord> WriteDeletions(FileSystem& files, const std::string& folder,
                                  const std::string& name, std::span<const int64_t> rows);

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_DELETIONS_H_
