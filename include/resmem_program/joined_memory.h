// Several memories read as one: the shards of a memory that was cut.
#ifndef RESMEM_PROGRAM_JOINED_MEMORY_H_
#define RESMEM_PROGRAM_JOINED_MEMORY_H_

#include <span>
#include <string>

#include "resmem/residual_memory.h"
#include "resmem/status.h"

namespace resmem {

// The rows of all of them, one memory after the other, mapped where they lie: a question is
// answered bit for bit as by one memory of all rows in this order.  It is searched exactly, without
// the memories' indexes, and cannot be changed.  The description is the first one's. Errors: those
// of ResidualMemory::Open(), kMismatch (rows, parameters or answers of another kind), kUnsupported
// (whitened keys: each memory would have whitened them in its own way).
Result<ResidualMemory> OpenJoined(std::span<const std::string> paths,
                                  const OpenOptions& options = {});

// 32 hexadecimal digits that depend on every byte of every row, and on what is deleted; not on the
// index, the parameters or when it was written.
std::string ContentHash(const ResidualMemory& memory);

}  // namespace resmem

#endif  // RESMEM_PROGRAM_JOINED_MEMORY_H_
