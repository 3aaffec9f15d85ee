// The shards of one version of a memory, asked as if they were one memory.
#ifndef RESMEM_SERVER_SHARDS_SHARD_SET_H_
#define RESMEM_SERVER_SHARDS_SHARD_SET_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "resmem/knn_index.h"
#include "resmem/residual_memory.h"
#include "shards/parts.h"
#include "shards/shard_client.h"

namespace resmem::serve {

// The nearest rows of all shards that answered.
struct Gathered {
  ResidualMemory rows;           // those that were found
  Neighbors neighbors;           // numbered as in `rows`
  std::vector<int64_t> missing;  // shards that did not answer, counted from 1
};

class ShardSet {
 public:
  // `edited`: the shards follow a stream of edits, so that their rows come and go.
  ShardSet(ShardFile file, int64_t most_bytes, bool edited);

  // `like`: how the memory answers.  If no shard is missing, the neighbors are those of one memory
  // of all shards' rows in their order, bit for bit where the shards search exactly.  Errors:
  // kBadData and others that a shard gave for the question itself; kCorrupt where a shard sent
  // what cannot be its rows.
  Result<Gathered> Gather(const ResidualMemory& like, MatrixView keys, int64_t k) const;

  // As the list has it; of shards that are edited, as they said last.
  int64_t rows() const;
  const ShardFile& file() const { return file_; }
  const ShardClient& client() const { return client_; }
  // "shards 2 and 3 of 4 ..."
  std::string MissingText(const std::vector<int64_t>& missing) const;

 private:
  const ShardFile file_;
  const bool edited_;
  mutable std::vector<std::atomic<int64_t>> rows_;  // of each shard
  const ShardClient client_;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_SHARDS_SHARD_SET_H_
