// resmem eval: does the memory help on these rows?
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/evaluation_run.h"
#include "outputs/evaluation_text.h"

namespace resmem::cli {
namespace {

class Eval : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "does the memory help? compares base and ResMem",
        "Reports accuracy with Wilson intervals, the gain with its paired interval and McNemar's "
        "p-value, the rivals at the values that resmem tune found for them (k-NN, kNN-LM, the base "
        "at a fitted temperature or with its last layer fitted again), and the quality of "
        "probabilities and answers. A rival that is better comes first. Gains are in percentage "
        "points.");
    run_.DeclareInput(line);
    line.Group("Analysis");
    line.Flag("--per-class", &per_class_, "a line for each class");
    line.Value("--coarse", &coarse_, "FILE",
               "superclass number of each class; reports how often an error stays within the "
               "superclass")
        .File();
    line.Value("--lambdas", &run_.options().lambdas, "LIST",
               "weights that kNN-LM may choose from, 0 to 1");
    line.Flag("--fail-if-worse", &fail_if_worse_,
              "exit with 5 if the memory's answer is less accurate than the base, or has a worse "
              "NLL");
    run_.DeclareModelAndOutput(line);
    line.AddExample("on a test set", "resmem eval my.resmem --data test.npz");
    line.AddExample("as a deployment gate",
                    "resmem eval my.resmem --data test.npz --fail-if-worse --quiet");
    line.AddExample("for other programs", "resmem eval my.resmem --data test.npz --json > e.json");
  }

  Result<ExitCode> Run(Console& console) override {
    run_.set_coarse_file(coarse_);
    if (per_class_) run_.set_for_classes_only("--per-class");
    if (!coarse_.empty()) run_.set_for_classes_only("--coarse");
    RESMEM_ASSIGN_OR_RETURN(const Evaluation evaluation, run_.Run(console));
    if (!run_.json()) RESMEM_RETURN_IF_ERROR(PrintResult(Text(evaluation)));
    const std::string worse = Worse(evaluation);
    if (!fail_if_worse_ || worse.empty()) return ExitCode::kOk;
    console.Error("check failed: " + worse);
    return ExitCode::kCheckFailed;
  }

 private:
  // In what the answer is worse than the base; empty: in nothing that it promises.
  static std::string Worse(const Evaluation& evaluation) {
    const std::string name =
        evaluation.method == Method::kResMem ? "ResMem" : "the memory's answer";
    if (IsLessRight(evaluation)) return name + " is worse than the base on these rows";
    if (!HasWorseNll(evaluation)) return "";
    return name + " has a worse NLL than the base on these rows: " +
           ShortNumber(evaluation.resmem_calibration.nll) + ", the base " +
           ShortNumber(evaluation.base_calibration.nll) +
           (evaluation.method == Method::kResMem
                ? "; resmem tune fits an answer that is better in both, where there is one"
                : "");
  }

  std::string Text(const Evaluation& evaluation) const {
    std::string text = EvaluationText(evaluation);
    if (evaluation.regression.has_value()) return text;
    if (evaluation.coarse.has_value()) text += "\n" + CoarseText(*evaluation.coarse);
    if (!evaluation.slices.empty()) text += "\n" + GroupsText("slice", evaluation.slices);
    if (per_class_) text += "\n" + GroupsText("class", evaluation.classes);
    return text;
  }

  EvaluationRun run_;
  std::string coarse_;
  bool per_class_ = false, fail_if_worse_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeEval() {
  return std::make_unique<Eval>();
}

}  // namespace resmem::cli
