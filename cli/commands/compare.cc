// resmem compare: every method on one neighbor pass, kNN-LM over its whole sweep.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/evaluation_run.h"
#include "outputs/evaluation_text.h"

namespace resmem::cli {
namespace {

class Compare : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("compare all methods on the same neighbors",
               "Base, nearest class mean, k-NN, kNN-LM, which mixes (1 - lambda) softmax(f) + "
               "lambda p_knn, and ResMem; every one against every other, paired. In a tuned memory "
               "k-NN and kNN-LM run at their own k, sigma and lambda, beside the base at a fitted "
               "temperature and with its last layer fitted again; the sweep of lambdas runs at "
               "ResMem's k and sigma. Gains are in percentage points.");
    run_.DeclareInput(line);
    line.Group("Methods");
    line.Value("--lambdas", &run_.options().lambdas, "LIST",
               "weights of kNN-LM, 0 to 1: values such as 0,0.5,1 or a range low:high:count");
    run_.DeclareModelAndOutput(line);
    line.AddExample("the usual sweep", "resmem compare my.resmem --data test.npz");
    line.AddExample("a finer one", "resmem compare my.resmem --data test.npz --lambdas 0:1:21");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const Evaluation evaluation, run_.Run(console));
    if (run_.json()) return ExitCode::kOk;
    const std::string table = evaluation.regression.has_value()
                                  ? RegressionText(*evaluation.regression)
                                  : BetterText(evaluation) +
                                        MethodsText(evaluation, /*every_lambda=*/true) + "\n" +
                                        PairsText(evaluation);
    RESMEM_RETURN_IF_ERROR(PrintResult(
        Counted(evaluation.rows, "row") + "; " +
        AnswerText(evaluation.method, evaluation.parameters, evaluation.task) + "\n\n" + table));
    return ExitCode::kOk;
  }

 private:
  EvaluationRun run_;
};

}  // namespace

std::unique_ptr<Command> MakeCompare() {
  return std::make_unique<Compare>();
}

}  // namespace resmem::cli
