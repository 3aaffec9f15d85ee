// The plan that a shard command works by, which shard, and how the model is run.
#ifndef RESMEM_CLI_INPUTS_SHARD_OPTIONS_H_
#define RESMEM_CLI_INPUTS_SHARD_OPTIONS_H_

#include <cstdint>
#include <string>

#include "console/command_line.h"
#include "console/console.h"
#include "resmem/shard/shard_steps.h"

namespace resmem::cli {

class ShardOptions {
 public:
  // FOLDER, and with `one` which shard of it.
  void Declare(CommandLine& line, bool one);
  // --threads, --onnxruntime.
  void DeclareRun(CommandLine& line);

  Result<ShardFolder> Open() const { return ShardFolder::Open(path_); }
  // The shard's number; kInvalidArgument unless it is "2/4" of a plan of four.
  Result<int64_t> Number(const ShardFolder& folder) const;
  ShardRun Run(Console& console) const { return {runtime_, console.progress(), 0}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_, part_;
  OnnxOptions runtime_;
};

std::string CountedQueries(int64_t queries);  // "1 query", "1,234 queries"

// "m.resmem: 1,234 rows memorized in 3.2 s", or that it was done before; to standard output.
Status PrintStep(const std::string& path, const std::string& did, const ShardDone& done,
                 const Console& console);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_SHARD_OPTIONS_H_
