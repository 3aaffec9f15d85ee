// resmem tune: chooses k, sigma and T on validation rows and writes them into the memory.
#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "inputs/parameter_options.h"
#include "inputs/tune_options.h"
#include "outputs/document_output.h"
#include "outputs/evaluation_text.h"
#include "outputs/key_tuning_text.h"
#include "process/last_words.h"
#include "resmem/tuner.h"

namespace resmem::cli {
namespace {

// A note in the memory: which rows its values were tuned on.
constexpr char kTunedOn[] = "tuned_on";
constexpr char kOwnRows[] = "the memory's own rows";

class TuneCommand : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  std::string Text(const Tuning& tuning) const;
  // Values of given rows are the better ones, and gone now.
  void WarnOfReplaced(const MemoryDescription& before, Console& console) const;

  std::string memory_path_;
  bool exact_ = false;
  DatasetOptions data_;
  ModelOptions model_;
  TuneOptions options_;
  DocumentOutput output_;
  bool dry_run_ = false, undo_ = false;
  double wait_seconds_ = 0;
};

void TuneCommand::Declare(CommandLine& line) {
  line.About(
      "fit a memory's answer on validation rows",
      "Fits the blend of base and neighbors (docs/predictor.md) and chooses ResMem's k, "
      "sigma and T. The blend becomes the memory's answer where cross-validation shows that "
      "its probabilities are better than the base's at a fitted temperature, and answers no "
      "less often right; otherwise the memory keeps the base's answer and says why. Where "
      "the data mark validation rows only those are used; rows marked test are refused. "
      "Below 100 rows nothing is fitted and nothing changes, below 250 only the blend's constants "
      "are. With --method resmem the memory answers by ResMem only if cross-validation shows "
      "a gain, else by the base.");
  DeclareMemory(line, &memory_path_);
  data_.Declare(line, DatasetUse::kTune);
  DeclareTuning(line, &options_);
  DeclareKeyTransform(line, &options_);
  line.Group("Rows");
  line.Flag("--leave-one-out", &options_.leave_one_out,
            "tune on the memory's own rows, leaving each one out; needs no input if the memory "
            "keeps logits");
  model_.Declare(line, /*check=*/true);
  output_.Declare(line);
  line.Flag("--dry-run", &dry_run_, "do not change the memory");
  line.Flag("--undo", &undo_, "restore what the memory answered before the last tuning; once");
  DeclareWait(line, &wait_seconds_);
  DeclareExact(line, &exact_);
  DeclareThreads(line, &options_.threads);
  line.AddExample("the usual way", "resmem tune my.resmem --data validation.npz");
  line.AddExample(
      "the paper's conservative rule for ResMem itself",
      "resmem tune my.resmem --data validation.npz --method resmem --objective tpr-at-fpr");
  line.AddExample("on held-out images, with the memory's own model",
                  "resmem tune my.resmem --images cifar100 --part train \\\n"
                  "    --rows 45000:50000 --role validation");
  line.AddExample("as quick as can be: keys stay as they are",
                  "resmem tune my.resmem --data validation.npz --key-transform keep");
  line.AddExample("without a validation set", "resmem tune my.resmem --leave-one-out");
}

void TuneCommand::WarnOfReplaced(const MemoryDescription& before, Console& console) const {
  const auto on = before.notes.find(kTunedOn);
  const bool own = on != before.notes.end() && on->second == kOwnRows;
  if (!options_.leave_one_out || !before.tuned || own) return;
  console.Warn(
      "replaced " + ParametersText(before.parameters, before.task) +
      ", which were tuned on validation rows, by values of the memory's own rows; to bring "
      "them back: " +
      CommandText({"tune", memory_path_, "--undo"}));
}

// What the memory answers by now, and what cross-validation says about it.
void AddAnswer(const Tuning& tuning, Table* table) {
  if (!tuning.blend.has_value()) {
    return table->AddRow({"answer", tuning.answer == Method::kResMem ? "resmem"
                                    : tuning.answer == Method::kBase
                                        ? "the base's: " + tuning.resmem_reason
                                        : "as before: " + tuning.resmem_reason});
  }
  const BlendTuning& blend = *tuning.blend;
  const bool regression = tuning.task == Task::kRegression;
  if (!blend.blend.has_value()) {
    return table->AddRow(
        {"answer", (tuning.answer.has_value() ? "resmem: " : "as before: ") + blend.reason});
  }
  table->AddRow({"answer", blend.adopted ? std::string(MethodName(blend.method)) + ", " +
                                               ParametersText(blend.blend->parameters, tuning.task)
                                         : "the base's: " + blend.reason});
  const char* const measure = regression ? "squared error" : "NLL";
  table->AddRow(
      {measure,
       Fixed(blend.base_nll, 4) + " base, " +
           (regression ? "" : Fixed(blend.scaled_nll, 4) + " base at a fitted temperature, ") +
           Fixed(blend.nll, 4) + " " + MethodName(blend.method) + ", cross-validated with " +
           Counted(blend.folds, "fold")});
  table->AddRow({"", "better by " + Fixed(blend.nll_gain, 4) + " (95 % interval " +
                         Fixed(blend.nll_interval.low, 4) + " .. " +
                         Fixed(blend.nll_interval.high, 4) + ")"});
  if (!regression) table->AddRow({"gain", GainText(blend.gain)});
}

std::string TuneCommand::Text(const Tuning& tuning) const {
  Table table = Table::Facts();
  AddAnswer(tuning, &table);
  AddKeys(tuning, &table);
  table.AddRow({"ResMem", ParametersText(tuning.chosen, tuning.task) +
                              (tuning.answer.has_value() ? "" : ", not stored")});
  table.AddRow({"tried", Counted(static_cast<int64_t>(tuning.points.size()), "point") + " on " +
                             Counted(tuning.rows, "row")});
  if (tuning.task == Task::kClassification) {
    table.AddRow({"objective", tuning.objective == Objective::kGain ? "accuracy"
                               : tuning.objective == Objective::kNll
                                   ? "NLL; ResMem's parameters by accuracy"
                                   : "TPR under FPR < " + ShortNumber(tuning.fpr_limit)});
    if (tuning.cross_validated_gain.has_value()) {
      table.AddRow({"ResMem's gain", GainText(*tuning.cross_validated_gain)});
      table.AddRow({"", "cross-validated"});
    } else {
      table.AddRow({"ResMem's gain", GainText(tuning.chosen_gain)});
      table.AddRow({"", "on the rows it was chosen on, so somewhat optimistic"});
    }
    for (const RivalTuning& rival : tuning.rival_tunings) {
      std::string values = rival.refit == Refit::kTemperature
                               ? "T = " + ShortNumber(rival.parameters.temperature)
                           : rival.refit == Refit::kLastLayer
                               ? "ridge " + ShortNumber(rival.ridge)
                               : "k = " + Count(rival.parameters.k) +
                                     ", sigma = " + ShortNumber(rival.parameters.sigma);
      if (rival.method == Method::kKnnLm) values += ", lambda = " + ShortNumber(rival.lambda);
      table.AddRow({ResultName(rival.method, rival.refit),
                    values + ": NLL " + Fixed(rival.nll, 4) + ", gain " +
                        SignedPoints(rival.gain.gain) + " points"});
    }
    table.AddRow({"calibrator", tuning.calibrator + ", NLL " + Fixed(tuning.calibrated_nll, 4)});
  } else {
    table.AddRow({"squared error", ShortNumber(tuning.base_loss) + " before, " +
                                       ShortNumber(tuning.chosen_loss) +
                                       " after (on the rows it was chosen on)"});
    if (tuning.cross_validated_loss.has_value()) {
      table.AddRow({"honest error", ShortNumber(*tuning.cross_validated_loss)});
    }
  }
  table.AddRow({"time", Duration(tuning.search_seconds) + " search, " +
                            Duration(tuning.grid_seconds) + " grid"});
  return table.Text();
}

Result<ExitCode> TuneCommand::Run(Console& console) {
  AnnounceChange("the values were written into the memory");
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                          ResidualMemory::Open(memory_path_, {.exact = exact_}));
  std::vector<std::string> inputs = data_.Paths();
  inputs.push_back(memory_path_);
  RESMEM_RETURN_IF_ERROR(output_.CheckPaths(inputs));
  const MemoryDescription& description = memory.description();
  if (undo_) {
    RESMEM_ASSIGN_OR_RETURN(MemoryDescription former, UndoTuning(description));
    former.notes.erase(kTunedOn);
    if (!dry_run_) {
      RESMEM_RETURN_IF_ERROR(
          UpdateDescription(memory_path_, former, {wait_seconds_, console.progress()}));
    }
    RESMEM_RETURN_IF_ERROR(PrintResult("answer  " + std::string(MethodName(former.answer)) +
                                       "\nkeys    " + KeyTransformName(former.key_transform) +
                                       "\nResMem  " +
                                       ParametersText(former.parameters, former.task) + "\n"));
    return ExitCode::kOk;
  }
  std::optional<Input> input;
  if (data_.given() || !options_.leave_one_out) {
    RESMEM_ASSIGN_OR_RETURN(
        input, model_.OpenInput(data_, memory_path_, memory, options_.threads, console));
  }
  const Predictor predictor(memory);
  options_.progress = console.progress();
  RESMEM_ASSIGN_OR_RETURN(
      const Tuning tuning,
      Tune(predictor, input.has_value() ? ReadDataset(input->dataset) : ReadMemory(memory),
           options_));
  for (const std::string& warning : tuning.warnings) console.Warn(warning);
  if (output_.wanted()) {
    RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, data_.Paths()));
    run.memory = DescribeMemory(memory_path_, memory);
    run.seeds["folds"] = options_.seed;
    RESMEM_RETURN_IF_ERROR(
        output_.Write(TuningJson(tuning, FinishedRun(std::move(run), console)), console));
  }
  const bool stored = !dry_run_ && tuning.answer.has_value();
  if (stored) {
    MemoryDescription tuned = ApplyTuning(description, tuning);
    tuned.notes[kTunedOn] = options_.leave_one_out ? kOwnRows : "given rows";
    RESMEM_RETURN_IF_ERROR(
        UpdateDescription(memory_path_, tuned, {wait_seconds_, console.progress()}));
    WarnOfReplaced(description, console);
  }
  if (!output_.on_stdout()) RESMEM_RETURN_IF_ERROR(PrintResult(Text(tuning)));
  console.Note(TuningNote(tuning, dry_run_, memory_path_));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeTune() {
  return std::make_unique<TuneCommand>();
}

}  // namespace resmem::cli
