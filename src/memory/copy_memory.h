// CopyMemory() over any file systems.
#ifndef RESMEM_MEMORY_COPY_MEMORY_H_
#define RESMEM_MEMORY_COPY_MEMORY_H_

#include <string>

#include "resmem/ram_memory.h"
#include "support/file_system.h"

namespace resmem {

Status CopyMemory(FileSystem& from_files, const std::string& from, FileSystem& to_files,
                  const std::string& to, const CopyOptions& options);

}  // namespace resmem

#endif  // RESMEM_MEMORY_COPY_MEMORY_H_
