// The rows of a memory in another form, as a new memory.
#ifndef RESMEM_MEMORY_COMPRESS_MEMORY_H_
#define RESMEM_MEMORY_COMPRESS_MEMORY_H_

#include <string>

#include "resmem/residual_memory.h"
#include "support/file_system.h"

namespace resmem {

// What counts of `form`: key type, residual form, top, share, least mass and notes.  Progress may
// be null.
Status WriteCompressed(FileSystem& from_files, const std::string& from, FileSystem& to_files,
                       const std::string& to, const MemoryDescription& form, bool overwrite,
                       Progress* progress);

}  // namespace resmem

#endif  // RESMEM_MEMORY_COMPRESS_MEMORY_H_
