// A memory that is cut into shards, so that many processes or machines make and ask it:
// docs/shards.md.
//
//   FOLDER/plan.json                              what is made from what; never changes
//   FOLDER/shards/shard-0001-of-0004.resmem       an ordinary memory of the shard's rows
//   FOLDER/answers/shard-0001-of-0004.answers     its neighbors of every query
//   FOLDER/merged.answers                         those of the whole memory
//
// The plan names its inputs by checksum, and every shard and answer names its plan: what was made
// of other inputs, or by another plan, is refused.
#ifndef RESMEM_SHARD_SHARD_PLAN_H_
#define RESMEM_SHARD_SHARD_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/lm/token_model.h"
#include "resmem/lm/token_windows.h"
#include "resmem/residual_memory.h"
#include "resmem/status.h"

namespace resmem {

// An input: `digest` depends on every byte of the file, or of the files in the folder; of a model
// it is the fingerprint.
struct ShardFile {
  std::string path;
  std::string digest;
};

// Rows [begin, end) of all.  Of tokens they are those of whole documents.
struct ShardRange {
  int64_t begin = 0, end = 0;
  int64_t first_document = 0, end_document = 0;  // tokens only

  int64_t rows() const { return end - begin; }
};

struct ShardPlan {
  bool tokens =
      false;  // rows are a token set run through `model`; else arrays: DatasetSources::all
  ShardFile rows, model;
  std::optional<ShardFile> queries;   // the same kind of file: asked by `search`, judged by `eval`
  std::optional<ShardFile> held_out;  // the same: what the recall of an index is measured on

  // The memory, as MemoryDescription and TokenMemoryOptions say.
  Task task = Task::kClassification;
  KeyType key_type = KeyType::kFloat32;
  KeyTransform key_transform = KeyTransform::kNone;
  ResidualForm form = ResidualForm::kLogits;
  int64_t top = 128;
  bool half_residuals = false;
  Parameters parameters;
  WindowShape windows;                      // tokens
  TokenEngine engine = TokenEngine::kAuto;  // tokens
  int64_t segment_rows = 262144;            // tokens
  std::optional<double> recall;             // none: shards are searched exactly
  uint64_t seed = 0;

  std::vector<ShardRange> shards;

  int64_t total_rows() const { return shards.empty() ? 0 : shards.back().end; }
  // Neighbors of each query that are searched and kept.
  int64_t neighbors() const { return std::min(parameters.k, total_rows()); }
};

// Fills the digests, the engine and `shards`: `count` of about equally many rows, cut where a
// document ends.  Errors: kInvalidArgument (more shards than rows or documents; whitened keys; rows
// marked test), and those of opening the inputs.
Result<ShardPlan> PlanShards(ShardPlan plan, int64_t count, const OnnxOptions& runtime = {});

// A folder with its plan.  Immutable.
class ShardFolder {
 public:
  // Makes the folder, and plan.json last.  The same plan again changes nothing; kInvalidArgument
  // where the folder has another one.
  static Result<ShardFolder> Create(const std::string& path, const ShardPlan& plan);
  // The file is hostile until it was checked.  Errors: kNotFound, kCorrupt, kTooNew, kIo.
  static Result<ShardFolder> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const ShardPlan& plan() const { return plan_; }
  const std::string& digest() const { return digest_; }  // of plan.json
  int64_t shards() const { return static_cast<int64_t>(plan_.shards.size()); }

  // Shards are counted from 1, as job arrays do.
  std::string memory_path(int64_t shard) const;
  std::string answers_path(int64_t shard) const;
  std::string merged_path() const { return path_ + "/merged.answers"; }

 private:
  ShardFolder(std::string path, ShardPlan plan, std::string digest);
  std::string Name(const char* folder, int64_t shard, const char* ending) const;

  std::string path_;
  ShardPlan plan_;
  std::string digest_;
};

}  // namespace resmem

#endif  // RESMEM_SHARD_SHARD_PLAN_H_
