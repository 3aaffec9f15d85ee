// The version of the memory's files: docs/memory_format.md says what they hold, docs/upgrade.md
// what is promised.
#ifndef RESMEM_PROGRAM_MEMORY_FORMAT_H_
#define RESMEM_PROGRAM_MEMORY_FORMAT_H_

#include <cstdint>

namespace resmem {

// What this library writes; it reads every version up to it.
inline constexpr uint32_t kMemoryFormatVersion = 1;

}  // namespace resmem

#endif  // RESMEM_PROGRAM_MEMORY_FORMAT_H_
