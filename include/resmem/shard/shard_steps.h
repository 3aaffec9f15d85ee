// What is done with a shard plan.  Every step writes aside and renames, so that its result is there
// whole or not at all; does nothing where its result is there already; and after a kill, at any
// instant, goes on when it is called again.  Steps on different shards may run at the same time, on
// any machines that see the folder and the inputs; of two on one shard the second is refused
// (kResourceExhausted).
//
// Errors of all: kMismatch (an input, a shard or an answer is not that of the plan), kNotFound (the
// step before was not done), kInvalidArgument (no such shard), kCancelled, kIo, kResourceExhausted.
#ifndef RESMEM_SHARD_SHARD_STEPS_H_
#define RESMEM_SHARD_SHARD_STEPS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "resmem/evaluation.h"
#include "resmem/progress.h"
#include "resmem/shard/shard_plan.h"
#include "resmem/status.h"

namespace resmem {

struct ShardRun {
  OnnxOptions runtime;  // its threads are also those of a search
  Progress* progress = nullptr;
  double wait_seconds = 0;  // MemorizeShard(): for a process that is making the same one
};

struct ShardDone {
  int64_t rows = 0;     // of the shard; of queries, where it was searched or merged
  bool before = false;  // it was done already
};

// The shard's memory.  One of tokens goes on where a killed run was.
Result<ShardDone> MemorizeShard(const ShardFolder& folder, int64_t shard, const ShardRun& run = {});
// Its index for the plan's recall; nothing to do for a plan without one.
Result<ShardDone> IndexShard(const ShardFolder& folder, int64_t shard, const ShardRun& run = {});
// The shard's nearest rows of every query.
Result<ShardDone> SearchShard(const ShardFolder& folder, int64_t shard, const ShardRun& run = {});

// The nearest rows of all shards, by squared distance and row number: of exact shards bit for bit
// those of one memory.
Result<ShardDone> MergeShards(const ShardFolder& folder, const ShardRun& run = {});
// Merged neighbors of queries [begin, begin + count); reads the file each time.
class MergedNeighbors {
 public:
  // kMismatch where a shard has changed since it was searched.
  static Result<MergedNeighbors> Open(const ShardFolder& folder);
  MergedNeighbors(MergedNeighbors&&) noexcept;
  ~MergedNeighbors();

  int64_t queries() const;
  // The k nearest; k at most the plan's.
  Status Read(int64_t begin, int64_t count, int64_t k, Neighbors* out) const;

 private:
  struct State;
  explicit MergedNeighbors(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

// The queries' ids: of tokens their numbers; none where arrays have no ids.
Result<std::vector<uint64_t>> ShardQueryIds(const ShardFolder& folder);

// All shards as one memory (joined_memory.h), each compared with what the plan says of it.
Result<ResidualMemory> OpenShards(const ShardFolder& folder, const OpenOptions& options = {});

// The plan's queries, judged with the merged neighbors as one memory's eval judges them.
// `options`: neighbors, parameters and method are set here.
Result<Evaluation> EvaluateShards(const ShardFolder& folder, const ResidualMemory& memory,
                                  const MergedNeighbors& merged, EvaluationOptions options,
                                  const ShardRun& run = {});

}  // namespace resmem

#endif  // RESMEM_SHARD_SHARD_STEPS_H_
