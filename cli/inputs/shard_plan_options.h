// What a memory is made of and how, as options: for a plan of shards, or a forecast.
#ifndef RESMEM_CLI_INPUTS_SHARD_PLAN_OPTIONS_H_
#define RESMEM_CLI_INPUTS_SHARD_PLAN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "console/command_line.h"
#include "inputs/parameter_options.h"
#include "resmem/shard/shard_plan.h"

namespace resmem::cli {

class ShardPlanOptions {
 public:
  enum class Use { kShards, kForecast };
  // --tokens or --data, --queries and so on; the model's are in DeclareModel().
  void Declare(CommandLine& line, Use use);
  void DeclareModel(CommandLine& line, Use use);

  // Cut into this many shards.
  Result<ShardPlan> Plan(int64_t shards, const OnnxOptions& runtime) const;

 private:
  Result<ShardPlan> Asked() const;

  std::string tokens_, data_, model_, queries_, held_out_;
  std::optional<int64_t> window_, stride_;
  std::optional<KeyType> key_type_;
  ParameterOptions parameters_;
  ShardPlan plan_;
};

// The first rows, documents and so on of each shard, as a table.
std::string ShardTable(const ShardPlan& plan);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_SHARD_PLAN_OPTIONS_H_
