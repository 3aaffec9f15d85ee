// What users are told where an index is broken, or rows cannot be in one.
#ifndef RESMEM_MEMORY_INDEX_INDEX_ADVICE_H_
#define RESMEM_MEMORY_INDEX_INDEX_ADVICE_H_

#include <string>

#include "memory/manifest/manifest.h"

namespace resmem {

// The command that makes this index again.
std::string RepairAdvice(const std::string& memory, const IndexRecord& index);

// Why rows are not in the index, and what to do about it.  Requires an obstacle.
std::string ObstacleText(const std::string& memory, const IndexRecord& index);

// The same for a command that was to make the index, in a memory that is new or was there.
std::string RefusalText(const std::string& memory, const IndexObstacle& obstacle, bool is_new);

}  // namespace resmem

#endif  // RESMEM_MEMORY_INDEX_INDEX_ADVICE_H_
