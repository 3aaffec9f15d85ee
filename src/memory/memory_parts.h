// The inside of a ResidualMemory, for the folders that the library itself is made of.
#ifndef RESMEM_MEMORY_MEMORY_PARTS_H_
#define RESMEM_MEMORY_MEMORY_PARTS_H_

#include <functional>
#include <span>
#include <string>

#include "memory/residuals/residual_cache.h"
#include "memory/rows/stored_rows.h"
#include "resmem/residual_memory.h"

namespace resmem {

struct MemoryParts {
  // As ResidualMemory::Open(); `former` as in reopen_memory.h, or null.  May throw std::bad_alloc.
  static Result<ResidualMemory> Open(const std::string& path, const OpenOptions& options,
                                     const ResidualMemory* former);
  // As resmem_program/joined_memory.h; at least one path.
  static Result<ResidualMemory> OpenJoined(std::span<const std::string> paths,
                                           const OpenOptions& options);
  // Of rows that were checked; searched exactly.
  static Result<ResidualMemory> OfRows(StoredRows rows, const std::string& path);
  // The same files with only these of its living rows; searched exactly.
  static Result<ResidualMemory> Keep(const ResidualMemory& memory,
                                     const std::function<bool(int64_t row)>& keeps);
  static const StoredRows& Rows(const ResidualMemory& memory);
  // After what was read: kCorrupt where a page of a file was lost (resmem/mapped_files.h).
  static Status CheckFiles(const ResidualMemory& memory);
  // Null where residuals are stored, or would be too many.
  static ResidualCache* Cache(const ResidualMemory& memory);
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_MEMORY_PARTS_H_
