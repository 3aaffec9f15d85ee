// The neighbors in a memory that is cut into shards, from the neighbors in each shard.
#ifndef RESMEM_PROGRAM_MERGE_NEIGHBORS_H_
#define RESMEM_PROGRAM_MERGE_NEIGHBORS_H_

#include <cstdint>
#include <span>

#include "resmem/knn_index.h"
#include "resmem/status.h"

namespace resmem {

// What one shard answered, with SearchOptions::squared.
struct ShardNeighbors {
  const Neighbors* found = nullptr;
  int64_t first_row = 0;  // its row 0 in the whole memory
};

// The k nearest of all shards by (squared distance, row of the whole memory).  If every shard gave
// the k nearest of its own rows, these are the k nearest of all rows, bit for bit as one index over
// them answers, wherever it is cut.  Errors: kInvalidArgument (no shards; other queries; fewer than
// k neighbors asked of a shard; no squares).
Status MergeNeighbors(std::span<const ShardNeighbors> shards, int64_t k, Neighbors* out);

}  // namespace resmem

#endif  // RESMEM_PROGRAM_MERGE_NEIGHBORS_H_
