#include "inputs/shard_options.h"

#include "console/format.h"
#include "console/output.h"
#include "console/values.h"
#include "inputs/dataset_options.h"
#include "inputs/images/runtime_options.h"

namespace resmem::cli {

void ShardOptions::Declare(CommandLine& line, bool one) {
  line.Argument("FOLDER", &path_, "folder made by 'resmem shard plan'").Folder();
  if (!one) return;
  line.Argument("I/N", &part_, "which shard, counted from 1, of how many the plan has: 2/4");
}

void ShardOptions::DeclareRun(CommandLine& line) {
  line.Group("Run");
  DeclareThreads(line, &runtime_.threads);
  DeclareRuntime(line, &runtime_);
}

Result<int64_t> ShardOptions::Number(const ShardFolder& folder) const {
  const size_t slash = part_.find('/');
  int64_t number = 0, of = 0;
  const bool sound = slash != std::string::npos &&
                     ParseValue(part_.substr(0, slash), &number).ok() &&
                     ParseValue(part_.substr(slash + 1), &of).ok();
  if (sound && of == folder.shards() && number >= 1 && number <= of) return number;
  const std::string shards = std::to_string(folder.shards());
  return Status(ErrorCode::kInvalidArgument, part_ + ": the plan of " + path_ + " has " + shards +
                                                 (folder.shards() == 1 ? " shard" : " shards") +
                                                 "; give 1/" + shards + " to " + shards + "/" +
                                                 shards);
}

std::string CountedQueries(int64_t queries) {
  return Count(queries) + (queries == 1 ? " query" : " queries");
}

Status PrintStep(const std::string& path, const std::string& did, const ShardDone& done,
                 const Console& console) {
  return PrintResult(path + ": " + did +
                     (done.before ? " before" : " in " + Duration(console.SecondsSinceStart())) +
                     "\n");
}

}  // namespace resmem::cli
