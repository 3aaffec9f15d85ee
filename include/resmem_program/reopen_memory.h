// The present state of a memory that is open already, for a program that answers while the memory
// is changed.
#ifndef RESMEM_PROGRAM_REOPEN_MEMORY_H_
#define RESMEM_PROGRAM_REOPEN_MEMORY_H_

#include <string>

#include "resmem/residual_memory.h"
#include "resmem/status.h"

namespace resmem {

// As ResidualMemory::Open(), but files that `former`, a state of the same memory, holds too are
// shared with it: they are neither mapped again nor checked again where they were.  After an append
// this costs as much as the new rows.  With verify_blocks every block is compared again.  `former`
// may be gone before the new state.
Result<ResidualMemory> ReopenMemory(const std::string& path, const OpenOptions& options,
                                    const ResidualMemory& former);

}  // namespace resmem

#endif  // RESMEM_PROGRAM_REOPEN_MEMORY_H_
