// Rows of a memory on their way to another process, for memories that are asked in shards: each
// shard sends the rows that it found, and they are scored together (docs/cluster.md).
#ifndef RESMEM_PROGRAM_ROW_PARTS_H_
#define RESMEM_PROGRAM_ROW_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "resmem/residual_memory.h"
#include "resmem/status.h"

namespace resmem {

// The bytes of a segment file (docs/memory_format.md, section 3) and what a manifest says of it.
struct RowPart {
  int64_t rows = 0;
  uint64_t header_hash = 0;
  std::span<const std::byte> bytes{};
  std::shared_ptr<const void> owner{};  // keeps the bytes alive
};

// Rows of the memory, in this order, with all that is stored of them: keys, labels, residuals, ids
// and sources.  Errors: kInvalidArgument (none, or no row of the memory), kCorrupt (a broken block
// of one), kUnsupported (whitened keys: each memory has whitened them in its own way).
Result<RowPart> CopyRows(const ResidualMemory& memory, std::span<const int64_t> rows);

// A memory in RAM of all parts' rows, one part after the other, which answers as `like` says; it
// needs the parts' bytes no longer.  The bytes may come from anywhere: every checksum and every
// value is checked.  Two parts may hold the same id.  Errors: kBadData, kCorrupt (bytes that are no
// rows of a memory like this one).
Result<ResidualMemory> OpenRowParts(const ResidualMemory& like, std::span<const RowPart> parts);

}  // namespace resmem

#endif  // RESMEM_PROGRAM_ROW_PARTS_H_
