// resmem shard index: one shard's index, if the plan asks for a recall.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/shard_options.h"

namespace resmem::cli {
namespace {

class ShardIndex : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("make one shard faster for the plan's recall",
               "Like 'resmem index', for the recall of the plan, measured on its held-out file. A "
               "plan without a recall needs no index: then there is nothing to do.");
    options_.Declare(line, /*one=*/true);
    options_.DeclareRun(line);
    line.AddExample("the second of four", "resmem shard index work 2/4");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const ShardFolder folder, options_.Open());
    RESMEM_ASSIGN_OR_RETURN(const int64_t shard, options_.Number(folder));
    RESMEM_ASSIGN_OR_RETURN(const ShardDone done, IndexShard(folder, shard, options_.Run(console)));
    const std::string path = folder.memory_path(shard);
    RESMEM_RETURN_IF_ERROR(
        folder.plan().recall.has_value()
            ? PrintStep(path, Counted(done.rows, "row") + " indexed", done, console)
            : PrintResult(path + ": is searched exactly, as planned\n"));
    return ExitCode::kOk;
  }

 private:
  ShardOptions options_;
};

}  // namespace

std::unique_ptr<Command> MakeShardIndex() {
  return std::make_unique<ShardIndex>();
}

}  // namespace resmem::cli
