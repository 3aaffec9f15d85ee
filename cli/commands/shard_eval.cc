// resmem shard eval: does the memory of all shards help on the plan's queries?
#include "console/command.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "inputs/shard_options.h"
#include "outputs/document_output.h"
#include "outputs/evaluation_text.h"
#include "outputs/tokens/token_evaluation_text.h"
#include "resmem/report/report.h"

namespace resmem::cli {
namespace {

class ShardEval : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("judge the merged neighbors, as 'eval' or 'lm eval' judges one memory",
               "Reads the residuals of the merged neighbors where they lie in the shards; nothing "
               "is searched. From shards that are searched exactly every number is that of one "
               "memory.");
    options_.Declare(line, /*one=*/false);
    line.Group("Output");
    output_.Declare(line);
    options_.DeclareRun(line);
    line.AddExample("after 'resmem shard merge'", "resmem shard eval work");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const ShardFolder folder, options_.Open());
    RESMEM_RETURN_IF_ERROR(output_.CheckPaths({options_.path()}));
    RESMEM_ASSIGN_OR_RETURN(const MergedNeighbors merged, MergedNeighbors::Open(folder));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, OpenShards(folder));
    EvaluationOptions evaluation_options;
    const bool tokens = folder.plan().tokens;
    if (tokens) evaluation_options.lambdas = {0.0f, 0.2f, 0.4f, 0.5f, 0.6f, 0.8f, 1.0f};
    RESMEM_ASSIGN_OR_RETURN(
        Evaluation evaluation,
        EvaluateShards(folder, memory, merged, evaluation_options, options_.Run(console)));
    if (tokens) WarnOfFewDocuments(&evaluation);
    for (const std::string& warning : evaluation.warnings) console.Warn(warning);
    if (output_.wanted()) {
      RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, {folder.plan().queries->path}));
      run.memory = DescribeMemory(options_.path(), memory);
      RESMEM_RETURN_IF_ERROR(
          output_.Write(EvaluationJson(evaluation, FinishedRun(run, console)), console));
    }
    if (!output_.on_stdout()) {
      RESMEM_RETURN_IF_ERROR(
          PrintResult(tokens ? TokenEvaluationText(evaluation) : EvaluationText(evaluation)));
    }
    return ExitCode::kOk;
  }

 private:
  ShardOptions options_;
  DocumentOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeShardEval() {
  return std::make_unique<ShardEval>();
}

}  // namespace resmem::cli
