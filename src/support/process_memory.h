#ifndef RESMEM_SUPPORT_PROCESS_MEMORY_H_
#define RESMEM_SUPPORT_PROCESS_MEMORY_H_

#include <cstdint>
#include <string>

namespace resmem {

// Bytes of memory that this process may use: the machine's, or what its control groups (a
// container, a service) leave it of that.  Looked up once.
int64_t ProcessMemory();

// What the control groups of this process allow, as the files below `root` say ("" for the real
// ones); the largest int64 where they set no limit or cannot be read.
int64_t MemoryOfControlGroups(const std::string& root);

}  // namespace resmem

#endif  // RESMEM_SUPPORT_PROCESS_MEMORY_H_
