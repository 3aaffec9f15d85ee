// The inputs of a shard plan, each compared with its checksum before it is read.
#ifndef RESMEM_SHARD_INPUTS_H_
#define RESMEM_SHARD_INPUTS_H_

#include <memory>
#include <optional>
#include <string>

#include "resmem/data/dataset.h"
#include "resmem/lm/token_rows.h"
#include "resmem/shard/shard_plan.h"

namespace resmem {

// Rows of one file; of tokens through the plan's model.
struct ShardRows {
  std::unique_ptr<TokenSet> set;
  std::unique_ptr<TokenModel> model;
  std::optional<TokenRows> tokens;
  std::unique_ptr<Dataset> dataset;
  int64_t begin = 0, end = 0;  // of the dataset

  int64_t rows() const { return tokens ? tokens->rows() : end - begin; }
  // Ids are those of the whole file: without any, the row's number.
  RowSource Source() const;
};

// DigestFile() of a file; of a folder it depends on the name and the bytes of every file in it.
Result<std::string> DigestInput(const std::string& path);

// kMismatch where the file is not the one that was planned.
Status CheckInput(const ShardFile& file);

// `range`: only these rows; none: all.  Checks file and model.
Result<ShardRows> OpenRows(const ShardPlan& plan, const ShardFile& file,
                           const std::optional<ShardRange>& range, const OnnxOptions& runtime);

// The memory that the plan makes of arrays.
MemoryDescription DescribeArrayMemory(const ShardPlan& plan, const Dataset& dataset);

// Without a comparison: for making the plan.
Result<Dataset> OpenArrays(const std::string& path, Task task);

}  // namespace resmem

#endif  // RESMEM_SHARD_INPUTS_H_
