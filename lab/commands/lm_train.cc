// resmem lm train: a language model from a token set.
#include <filesystem>
#include <optional>

#include "commands/print_run.h"
#include "console/command.h"
#include "console/format.h"
#include "console/interrupt.h"
#include "console/next_step.h"
#include "lm_training/lm_training.h"
#include "recipe/run_folder.h"

namespace resmem::cli {
namespace {

class LmTrain : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Result<LmRecipe> MakeRecipe() const;
  // Writes the recipe into the folder, or finds there the same one: a run to go on with.
  Status PrepareFolder(const LmRecipe& recipe) const;
  // That the folder's recipe is this one.
  Status CheckRecipe(const LmRecipe& recipe) const;
  Status Train(Console& console) const;

  LmRecipe recipe_;  // what stands outside the presets
  std::string preset_ = "lm-short", folder_;
  std::optional<int64_t> batch_, warmup_steps_, constant_steps_;
  std::optional<double> peak_rate_, weight_decay_, most_gradient_, dropout_, embedding_deviation_;
  std::optional<LmOptimizer> optimizer_;
  std::optional<LmSchedule> schedule_;
};

void LmTrain::Declare(CommandLine& line) {
  line.About(
      "train a language model on tokens",
      "Trains a decoder-only T5 to predict the next token, in windows that never cross documents. "
      "Writes last.onnx (and best.onnx, if there are validation tokens) with the outputs embedding "
      "and logits into the run's folder. If it is stopped, the same command continues, even in the "
      "middle of a pass, and ends with the same bytes as an uninterrupted run.");
  line.Argument("TOKENS", &recipe_.tokens, "token set from resmem lm tokens").File();
  line.Value("--network", &recipe_.network, "NAME",
             "t5-small, t5-base, t5-large, or t5-dDIM-lLAYERS-hHEADS-fHIDDEN");
  line.Group("Data");
  line.Value("--validation", &recipe_.validation, "TOKENS",
             "token set of the same tokenizer, used to choose the best model")
      .Default("none")
      .File();
  line.Value("--validation-windows", &recipe_.validation_windows, "N",
             "windows evaluated each time, spread evenly over the set");
  line.Value("--context", &recipe_.context, "N", "tokens per window");
  line.Value("--vocabulary", &recipe_.vocabulary, "N",
             "vocabulary of the model; 0: the tokenizer's, rounded up to a multiple of 128");
  line.Group("Run");
  line.Value("--output", &folder_, "FOLDER", "the run's folder").Short("-o").Required().Folder();
  line.Value(
      "--evaluate-every", &recipe_.evaluate_every, "N",
      "steps between evaluations on the validation windows; the model is also exported then");
  line.Value("--checkpoint-every", &recipe_.checkpoint_every, "N",
             "steps between checkpoints: a killed run loses at most this many");
  line.Value("--seed", &recipe_.seed, "N", "seed of the initial parameters, order and dropout");
  line.Value("--threads", &recipe_.threads, "N",
             "number of threads, 0: all; the result does not depend on it");
  line.Group("Recipe");
  line.Value(
      "--preset", &preset_, "WORD",
      "lm-short: small steps and a cosine schedule, for one pass on a CPU; lm-paper: the paper's "
      "rate, batch and dropout; both with Adafactor; the options below override single values");
  line.Value("--passes", &recipe_.passes, "N", "passes over the tokens");
  line.Value("--batch", &batch_, "N", "windows per step").Default("the preset's");
  line.Choice("--optimizer", &optimizer_, ChoicesOf<LmOptimizer>(),
              "the optimizer; adamw needs a tenth of adafactor's rate")
      .Default("the preset's");
  line.Choice("--schedule", &schedule_, ChoicesOf<LmSchedule>(), "how the learning rate falls")
      .Default("the preset's");
  line.Value("--peak-rate", &peak_rate_, "X", "learning rate after the warm-up")
      .Default("the preset's");
  line.Value("--warmup-steps", &warmup_steps_, "N",
             "linear rise from 0; at most a quarter of the run's steps")
      .Default("the preset's");
  line.Value("--constant-steps", &constant_steps_, "N",
             "steps before the rate falls, for --schedule inverse-root")
      .Default("the preset's");
  line.Value("--weight-decay", &weight_decay_, "X", "weight decay of adamw, for matrices")
      .Default("the preset's");
  line.Value("--most-gradient", &most_gradient_, "X", "clip the gradient to this norm; 0: never")
      .Default("the preset's");
  line.Value("--dropout", &dropout_, "X", "share of values dropped during training")
      .Default("the preset's");
  line.Value("--embedding-deviation", &embedding_deviation_, "X",
             "standard deviation of the initial embeddings; T5's is 1")
      .Default("the preset's");
  line.AddExample("one pass on a CPU",
                  "resmem lm train wiki.tokens --validation valid.tokens -o run");
  line.AddExample("the paper's recipe",
                  "resmem lm train c4.tokens --network t5-small --preset lm-paper -o paper-run");
}

Result<LmRecipe> LmTrain::MakeRecipe() const {
  LmRecipe recipe = recipe_;
  RESMEM_RETURN_IF_ERROR(ApplyLmPreset(preset_, &recipe));
  recipe.passes = recipe_.passes;
  const auto set = [](const auto& given, auto* value) {
    if (given.has_value()) *value = *given;
  };
  set(batch_, &recipe.batch);
  set(optimizer_, &recipe.optimizer);
  set(schedule_, &recipe.schedule);
  set(peak_rate_, &recipe.peak_rate);
  set(warmup_steps_, &recipe.warmup_steps);
  set(constant_steps_, &recipe.constant_steps);
  set(weight_decay_, &recipe.weight_decay);
  set(most_gradient_, &recipe.most_gradient);
  set(dropout_, &recipe.dropout);
  set(embedding_deviation_, &recipe.embedding_deviation);
  RESMEM_RETURN_IF_ERROR(CheckLmRecipe(recipe));
  return recipe;
}

Status LmTrain::CheckRecipe(const LmRecipe& recipe) const {
  RESMEM_ASSIGN_OR_RETURN(const LmRecipe present, ReadLmRecipe(folder_ + "/recipe.json"));
  const std::string difference = LmRecipeDifference(present, recipe);
  return difference.empty() ? Status() : HoldsAnotherRun(folder_, difference, kOtherRunAdvice);
}

Status LmTrain::PrepareFolder(const LmRecipe& recipe) const {
  RESMEM_RETURN_IF_ERROR(MakeRunFolder(folder_));
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<FileLock> lock, LockRun(folder_));
  const std::string path = folder_ + "/recipe.json";
  std::error_code failed;
  if (std::filesystem::exists(path, failed)) RESMEM_RETURN_IF_ERROR(CheckRecipe(recipe));
  return WriteLmRecipe(path, recipe);
}

std::string ReportText(const LmReport& report) {
  std::string text = "step " + Count(report.step) + " of " + Count(report.steps) + ": rate " +
                     ShortNumber(report.rate) + ", loss " + Fixed(report.loss, 4) + ", accuracy " +
                     Percent(report.accuracy) + " while learning";
  if (report.validation_loss >= 0) {
    text += ", validation loss " + Fixed(report.validation_loss, 4) + ", accuracy " +
            Percent(report.validation_accuracy);
  }
  text += ", " + Count(static_cast<int64_t>(report.tokens_per_second)) + " tokens/s";
  if (report.step < report.steps) {
    const double a_step = report.seconds / static_cast<double>(report.step);
    text += ", " + Duration(a_step * static_cast<double>(report.steps - report.step)) + " left";
  }
  return text;
}

Status LmTrain::Train(Console& console) const {
  LmObserver observer;
  observer.note = [&](const std::string& note) { console.Note(note); };
  observer.step = [&](int64_t step, int64_t steps, double, double) {
    console.progress()->Report("learning", step, steps);
    return InterruptSignal() == 0;
  };
  observer.report = [&](const LmReport& report) { console.Note(ReportText(report)); };
  return TrainLanguageModel(folder_, observer);
}

Result<ExitCode> LmTrain::Run(Console& console) {
  RESMEM_ASSIGN_OR_RETURN(const LmRecipe recipe, MakeRecipe());
  RESMEM_RETURN_IF_ERROR(PrepareFolder(recipe));
  RESMEM_RETURN_IF_ERROR(Train(console));
  RESMEM_RETURN_IF_ERROR(CheckRecipe(recipe));  // another command may have come before the training
  RESMEM_RETURN_IF_ERROR(PrintRunFolder(folder_));
  SuggestNext(
      {"lm", "memorize", recipe.tokens, "--model", folder_ + "/last.onnx", "-o", "NEW.resmem"},
      console);
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeLmTrain() {
  return std::make_unique<LmTrain>();
}

}  // namespace resmem::cli
