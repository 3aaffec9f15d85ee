// resmem shard memorize: one shard's rows as a memory of its own.
#include "console/command.h"
#include "console/format.h"
#include "inputs/memory_options.h"
#include "inputs/shard_options.h"
#include "process/last_words.h"

namespace resmem::cli {
namespace {

class ShardMemorize : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("store the rows of one shard",
               "Makes the shard's memory, an ordinary one, in FOLDER/shards. What is there already "
               "is kept; if the command is stopped or killed, run it again. Shards may be made at "
               "the same time, on any machines that see the folder and the inputs.");
    options_.Declare(line, /*one=*/true);
    options_.DeclareRun(line);
    DeclareWaitForMaker(line, &wait_seconds_);
    line.AddExample("the second of four", "resmem shard memorize work 2/4");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const ShardFolder folder, options_.Open());
    RESMEM_ASSIGN_OR_RETURN(const int64_t shard, options_.Number(folder));
    ShardRun run = options_.Run(console);
    run.wait_seconds = wait_seconds_;
    RESMEM_ASSIGN_OR_RETURN(const ShardDone done, MemorizeShard(folder, shard, run));
    AnnounceOutput("the shard's memory is complete");
    RESMEM_RETURN_IF_ERROR(PrintStep(folder.memory_path(shard),
                                     Counted(done.rows, "row") + " memorized", done, console));
    return ExitCode::kOk;
  }

 private:
  ShardOptions options_;
  double wait_seconds_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeShardMemorize() {
  return std::make_unique<ShardMemorize>();
}

}  // namespace resmem::cli
