// The inside of a ResidualMemory, for the folders that the library itself is made of.
#ifndef RESMEM_MEMORY_MEMORY_PARTS_H_
#define RESMEM_MEMORY_MEMORY_PARTS_H_

#include "memory/residuals/residual_cache.h"
#include "memory/rows/stored_rows.h"
#include "resmem/residual_memory.h"

namespace resmem {

struct MemoryParts {
  static const StoredRows& Rows(const ResidualMemory& memory);
  // Null where residuals are stored, or would be too many.
  static ResidualCache* Cache(const ResidualMemory& memory);
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_MEMORY_PARTS_H_
