// resmem shard plan: what is made from what, and which shard has which rows.
#include "resmem/shard/shard_plan.h"
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/images/runtime_options.h"
#include "inputs/shard_plan_options.h"

namespace resmem::cli {
namespace {

class ShardPlanCommand : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("cut a memory into shards that many processes or machines make and ask",
               "Writes FOLDER/plan.json: the inputs with their checksums, how the memory is made, "
               "and which rows are whose. Shards of tokens are cut where documents end. The other "
               "shard commands work by the plan and refuse inputs, shards and answers that are not "
               "its own. The same plan again changes nothing.");
    line.Argument("FOLDER", &folder_, "the plan's folder, made if it is missing").Folder();
    line.Value("--shards", &shards_, "N", "how many").Required();
    options_.Declare(line, ShardPlanOptions::Use::kShards);
    options_.DeclareModel(line, ShardPlanOptions::Use::kShards);
    DeclareRuntime(line, &runtime_);
    line.AddExample("tokens, four machines",
                    "resmem shard plan work --shards 4 --tokens train.tokens --queries "
                    "test.tokens --model run/last.onnx");
    line.AddExample("arrays, approximate search",
                    "resmem shard plan work --shards 8 --data train.npz --queries test.npz "
                    "--recall 0.95");
  }

  Result<ExitCode> Run(Console&) override {
    RESMEM_ASSIGN_OR_RETURN(const ShardPlan plan, options_.Plan(*shards_, runtime_));
    RESMEM_ASSIGN_OR_RETURN(const ShardFolder folder, ShardFolder::Create(folder_, plan));
    RESMEM_RETURN_IF_ERROR(
        PrintResult(folder.path() + ": " + Counted(plan.total_rows(), "row") + " in " +
                    Counted(folder.shards(), "shard") + "; k = " + Count(plan.parameters.k) +
                    (plan.recall.has_value() ? ", recall " + ShortNumber(*plan.recall)
                                             : std::string(", exact")) +
                    "\n\n" + ShardTable(plan)));
    return ExitCode::kOk;
  }

 private:
  std::string folder_;
  std::optional<int64_t> shards_;
  ShardPlanOptions options_;
  OnnxOptions runtime_;
};

}  // namespace

std::unique_ptr<Command> MakeShardPlan() {
  return std::make_unique<ShardPlanCommand>();
}

}  // namespace resmem::cli
