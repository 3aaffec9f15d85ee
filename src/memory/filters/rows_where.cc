#include "memory/memory_parts.h"
#include "resmem/row_filter.h"
#include "support/guard.h"

namespace resmem {

Result<ResidualMemory> RowsWhere(const ResidualMemory& memory, const RowFilter& filter) try {
  return MemoryParts::Keep(memory, [&](int64_t row) { return filter.Matches(memory.tags(row)); });
} catch (...) {
  return CaughtException("find the rows that match");
}

std::vector<uint64_t> IdsWhere(const ResidualMemory& memory, const RowFilter& filter) {
  std::vector<uint64_t> ids;
  for (int64_t row = 0; row < memory.capacity(); ++row) {
    if (!memory.deleted(row) && filter.Matches(memory.tags(row))) ids.push_back(memory.id(row));
  }
  return ids;
}

}  // namespace resmem
