// resmem lm tune: chooses k and sigma on held-out text and writes them into the memory.
#include <cmath>

#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "inputs/parameter_options.h"
#include "inputs/text/token_question.h"
#include "inputs/tune_options.h"
#include "outputs/document_output.h"
#include "outputs/key_tuning_text.h"
#include "process/last_words.h"
#include "resmem/report/report.h"

namespace resmem::cli {
namespace {

class LmTune : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  bool exact_ = false, dry_run_ = false;
  double wait_seconds_ = 0;
  TokenQuestion question_;
  TuneOptions options_;
  DocumentOutput output_;
};

void LmTune::Declare(CommandLine& line) {
  line.About(
      "fit a memory's answer on validation text",
      "As resmem tune; T stays as the memory was frozen. One search of all keys for each key "
      "transform that is tried, and one of the index with --key-transform keep. Holds the logits "
      "of all tokens in memory (128 KB each with 32,128 classes); limit them with --documents.");
  question_.Declare(line, "validation");
  DeclareTuning(line, &options_);
  DeclareKeyTransform(line, &options_);
  line.Group("Output");
  output_.Declare(line);
  line.Flag("--dry-run", &dry_run_, "do not change the memory");
  DeclareWait(line, &wait_seconds_);
  DeclareExact(line, &exact_);
  question_.DeclareModel(line);
  line.AddExample("on the first twenty documents",
                  "resmem lm tune train.resmem --tokens valid.tokens --documents 20 --model "
                  "run/last.onnx");
}

std::string LmTuningText(const Tuning& tuning) {
  const PairedGain& gain = tuning.chosen_gain;
  Table table = Table::Facts();
  if (tuning.blend.has_value()) {
    const BlendTuning& blend = *tuning.blend;
    table.AddRow({"answer", blend.adopted ? std::string(MethodName(blend.method)) + ", " +
                                                ParametersText(blend.blend->parameters, tuning.task)
                                          : blend.reason});
    if (blend.blend.has_value()) {
      table.AddRow({"perplexity", Fixed(std::exp(blend.base_nll), 2) + " base, " +
                                      Fixed(std::exp(blend.scaled_nll), 2) +
                                      " base at a fitted temperature, " +
                                      Fixed(std::exp(blend.nll), 2) + " " +
                                      MethodName(blend.method) + ", cross-validated on " +
                                      Counted(blend.rows, "token") + ", documents kept whole"});
    }
  }
  AddKeys(tuning, &table);
  table.AddRow({"ResMem", ParametersText(tuning.chosen, tuning.task) +
                              (tuning.resmem_reason.empty() ? "" : "; " + tuning.resmem_reason)});
  table.AddRow({"tried", Counted(static_cast<int64_t>(tuning.points.size()), "point") + " on " +
                             Counted(tuning.rows, "token")});
  table.AddRow({"gain", SignedPoints(gain.gain) +
                            " points on the tokens it was chosen on, so somewhat optimistic; " +
                            Count(gain.fixed) + " fixed, " + Count(gain.harmed) + " harmed"});
  if (tuning.cross_validated_gain.has_value()) {
    table.AddRow({"honest gain", SignedPoints(tuning.cross_validated_gain->gain) + " points"});
  }
  table.AddRow({"calibrator",
                tuning.calibrator + ", perplexity " + Fixed(std::exp(tuning.calibrated_nll), 2)});
  table.AddRow({"time", Duration(tuning.search_seconds) + " search, " +
                            Duration(tuning.grid_seconds) + " grid"});
  return table.Text();
}

Result<ExitCode> LmTune::Run(Console& console) {
  AnnounceChange("the values were written into the memory");
  RESMEM_RETURN_IF_ERROR(output_.CheckPaths(
      {question_.memory_path(), question_.tokens_path(), question_.model_path()}));
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory memory, question_.OpenMemory({.exact = exact_}));
  RESMEM_ASSIGN_OR_RETURN(const TokenQuestion::Opened asked, question_.Open(std::move(memory)));
  options_.whole_slices = true;
  options_.threads = question_.threads();
  options_.progress = console.progress();
  RESMEM_ASSIGN_OR_RETURN(const Tuning tuning,
                          Tune(Predictor(asked.memory), asked.rows.Source(), options_));
  for (const std::string& warning : tuning.warnings) console.Warn(warning);
  if (output_.wanted()) {
    RESMEM_ASSIGN_OR_RETURN(
        RunInfo run, DescribeThisRun(console, {question_.tokens_path(), question_.model_path()}));
    run.memory = DescribeMemory(question_.memory_path(), asked.memory);
    run.seeds["folds"] = options_.seed;
    RESMEM_RETURN_IF_ERROR(
        output_.Write(TuningJson(tuning, FinishedRun(std::move(run), console)), console));
  }
  if (!dry_run_ && tuning.answer.has_value()) {
    RESMEM_RETURN_IF_ERROR(UpdateDescription(question_.memory_path(),
                                             ApplyTuning(asked.memory.description(), tuning),
                                             {wait_seconds_, console.progress()}));
  }
  if (!output_.on_stdout()) RESMEM_RETURN_IF_ERROR(PrintResult(LmTuningText(tuning)));
  console.Note(TuningNote(tuning, dry_run_, question_.memory_path()));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeLmTune() {
  return std::make_unique<LmTune>();
}

}  // namespace resmem::cli
