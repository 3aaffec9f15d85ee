// resmem shard search: the neighbors of every query in one shard.
#include "console/command.h"
#include "inputs/shard_options.h"

namespace resmem::cli {
namespace {

class ShardSearch : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("find the neighbors of every query in one shard",
               "Asks the shard for the k nearest rows of each query of the plan, and writes them "
               "to FOLDER/answers with their exact squared distances, so that merging loses "
               "nothing. Answers that are there already are kept.");
    options_.Declare(line, /*one=*/true);
    options_.DeclareRun(line);
    line.AddExample("the second of four", "resmem shard search work 2/4");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const ShardFolder folder, options_.Open());
    RESMEM_ASSIGN_OR_RETURN(const int64_t shard, options_.Number(folder));
    RESMEM_ASSIGN_OR_RETURN(const ShardDone done,
                            SearchShard(folder, shard, options_.Run(console)));
    RESMEM_RETURN_IF_ERROR(PrintStep(folder.answers_path(shard),
                                     CountedQueries(done.rows) + " answered", done, console));
    return ExitCode::kOk;
  }

 private:
  ShardOptions options_;
};

}  // namespace

std::unique_ptr<Command> MakeShardSearch() {
  return std::make_unique<ShardSearch>();
}

}  // namespace resmem::cli
