// resmem lm eval: does the memory help on this text?
#include "console/command.h"
#include "console/output.h"
#include "inputs/answer_options.h"
#include "inputs/memory_options.h"
#include "inputs/text/token_question.h"
#include "outputs/document_output.h"
#include "outputs/tokens/token_evaluation_text.h"
#include "resmem/lm/document_intervals.h"
#include "resmem/report/report.h"

namespace resmem::cli {
namespace {

class LmEval : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  bool exact_ = false;
  TokenQuestion question_;
  AnswerOptions answer_;
  EvaluationOptions options_;
  DocumentOutput output_;
};

void LmEval::Declare(CommandLine& line) {
  line.About("does the memory help a language model? compares base, k-NN, kNN-LM and ResMem",
             "Reports the next-token accuracy and the perplexity of every method on the same "
             "neighbors, of ResMem by the calibrator, and every one against every other; k-NN and "
             "kNN-LM at their own values where lm tune has found them. Intervals resample whole "
             "documents, because the tokens of a document are not independent.");
  question_.Declare(line, "held-out");
  answer_.Declare(line);
  DeclareExact(line, &exact_);
  options_.lambdas = {0.0f, 0.2f, 0.4f, 0.5f, 0.6f, 0.8f, 1.0f};
  line.Value("--lambdas", &options_.lambdas, "LIST", "weights of kNN-LM, 0 to 1");
  line.Group("Output");
  output_.Declare(line);
  question_.DeclareModel(line);
  line.AddExample("on a test set",
                  "resmem lm eval train.resmem --tokens test.tokens --model run/last.onnx");
}

Result<ExitCode> LmEval::Run(Console& console) {
  RESMEM_RETURN_IF_ERROR(output_.CheckPaths(
      {question_.memory_path(), question_.tokens_path(), question_.model_path()}));
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory memory, question_.OpenMemory({.exact = exact_}));
  RESMEM_ASSIGN_OR_RETURN(const TokenQuestion::Opened asked, question_.Open(std::move(memory)));
  const Predictor predictor(asked.memory);
  RESMEM_ASSIGN_OR_RETURN(const PredictOptions answer, answer_.Choose(predictor));
  options_.method = answer.method;
  RESMEM_ASSIGN_OR_RETURN(options_.parameters,
                          answer_.ResMemParameters(asked.memory.description()));
  options_.threads = question_.threads();
  options_.progress = console.progress();
  RESMEM_ASSIGN_OR_RETURN(Evaluation evaluation,
                          Evaluate(predictor, asked.rows.Source(), options_));
  UseDocumentIntervals(&evaluation);
  WarnOfFewDocuments(&evaluation);
  for (const std::string& warning : evaluation.warnings) console.Warn(warning);
  if (output_.wanted()) {
    RESMEM_ASSIGN_OR_RETURN(
        RunInfo run, DescribeThisRun(console, {question_.tokens_path(), question_.model_path()}));
    run.memory = DescribeMemory(question_.memory_path(), asked.memory);
    RESMEM_RETURN_IF_ERROR(
        output_.Write(EvaluationJson(evaluation, FinishedRun(run, console)), console));
  }
  if (!output_.on_stdout()) RESMEM_RETURN_IF_ERROR(PrintResult(TokenEvaluationText(evaluation)));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeLmEval() {
  return std::make_unique<LmEval>();
}

}  // namespace resmem::cli
