// resmem train: a base network from images or a table, by the training program.
#include <filesystem>
#include <optional>

#include "commands/print_run.h"
#include "console/command.h"
#include "console/next_step.h"
#include "recipe/run_folder.h"
#include "recipe/train_recipe.h"
#include "reproduce/training_program.h"

namespace resmem::cli {
namespace {

namespace fs = std::filesystem;

class TrainCommand : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Result<TrainRecipe> MakeRecipe() const;
  // Writes the recipe into the folder, or finds there the same one: a run to go on with.
  Status PrepareFolder(const TrainRecipe& recipe) const;
  // Between the preparation and the training another command may have come with its own recipe.
  Status CheckWhatWasTrained(const TrainRecipe& recipe) const;
  void SuggestMemory(const TrainRecipe& recipe, Console& console) const;

  TrainRecipe recipe_;  // what stands outside the presets
  std::string preset_ = "short", folder_;
  bool no_flip_ = false;
  std::optional<int64_t> epochs_, batch_, crop_padding_, evaluate_every_;
  std::optional<double> peak_rate_, warmup_epochs_, drop_factor_, momentum_, weight_decay_,
      label_smoothing_;
  std::optional<std::vector<int64_t>> drop_epochs_;
  std::optional<RateSchedule> schedule_;
};

void TrainCommand::Declare(CommandLine& line) {
  line.About("train a base network on images or a table",
             "Writes last.onnx (and best.onnx, if rows are held out) with the outputs embedding "
             "and logits into the run's folder, for resmem memorize. If it is stopped, the same "
             "command continues with the same numbers as an uninterrupted run. Training runs in a "
             "separate program, resmem-train, which needs libtorch.");
  line.Argument("NETWORK", &recipe_.network,
                "resnet8, resnet14, resnet20, resnet32, resnet44, resnet56; mobilenetv2-WIDTH "
                "(mobilenetv2-0.5); for tables linear or mlp-HIDDEN (mlp-128, mlp-256-64)");
  line.Group("Data");
  line.Value("--images", &recipe_.images, "PATH",
             "CIFAR, IDX or a folder of classes with PNG, JPEG and WebP files (docs/images.md)")
      .File();
  line.Value("--part", &recipe_.part, "WORD",
             "which part of a folder that holds train and test to read");
  line.Value("--inputs", &recipe_.inputs, "ARRAY", "rows of a table, for linear and mlp").File();
  line.Value("--labels", &recipe_.labels, "ARRAY", "class number of each row or image").File();
  line.Value("--height", &recipe_.height, "PIXELS",
             "resize images to this height; needs --width; 0: keep their size");
  line.Value("--width", &recipe_.width, "PIXELS",
             "resize images to this width; needs --height; 0: keep their size");
  line.Value("--rows", &recipe_.rows, "N", "train on N rows, sampled by the seed; 0: all");
  line.Flag("--balanced", &recipe_.balanced, "with --rows: the same number of each class");
  line.Value("--validation-rows", &recipe_.validation_rows, "N",
             "hold out N rows, sampled by the seed; they choose the best model");
  line.Value("--test-part", &recipe_.test_part, "WORD",
             "part whose accuracy is shown and logged, but never used to choose")
      .Default("none");
  line.Group("Run");
  line.Value("--output", &folder_, "FOLDER", "the run's folder").Short("-o").Required().Folder();
  line.Value("--keep-epochs", &recipe_.keep_epochs, "LIST",
             "keep the models of these epochs as epoch-NNNN.onnx");
  line.Value("--seed", &recipe_.seed, "N",
             "seed of the initial weights, order, crops and held-out rows");
  line.Value("--threads", &recipe_.threads, "N", "number of threads, 0: all");
  line.Choice("--precision", &recipe_.precision, ChoicesOf<Precision>(),
              "precision of products during training; auto: bfloat16 for ResNets if the processor "
              "has AMX tiles (3 times as fast), else float32");
  line.Group("Recipe");
  line.Value("--preset", &preset_, "WORD",
             "short: a single cycle of 24 epochs; long: of 96 epochs; paper: the paper's 256 "
             "epochs; the options below override single values");
  line.Value("--epochs", &epochs_, "N", "passes over the rows").Default("the preset's");
  line.Value("--batch", &batch_, "N", "rows per step").Default("128");
  line.Choice("--schedule", &schedule_, ChoicesOf<RateSchedule>(),
              "how the learning rate falls after the warm-up")
      .Default("the preset's");
  line.Value("--peak-rate", &peak_rate_, "X", "learning rate after the warm-up").Default("0.4");
  line.Value("--warmup-epochs", &warmup_epochs_, "X", "linear rise from 0").Default("the preset's");
  line.Value("--drop-epochs", &drop_epochs_, "LIST",
             "epochs after which --schedule steps drops the rate")
      .Default("the preset's");
  line.Value("--drop-factor", &drop_factor_, "X", "factor of each drop").Default("0.1");
  line.Value("--momentum", &momentum_, "X", "0 to below 1").Default("0.9");
  line.Value("--weight-decay", &weight_decay_, "X", "weight decay, added to the gradient")
      .Default("the preset's");
  line.Value("--label-smoothing", &label_smoothing_, "X", "share spread over all classes")
      .Default("0");
  line.Value("--crop-padding", &crop_padding_, "PIXELS",
             "pad images by this many pixels and crop at random; 0: off")
      .Default("4");
  line.Flag("--no-flip", &no_flip_, "do not mirror images at random");
  line.Value("--evaluate-every", &evaluate_every_, "N",
             "epochs between evaluations on held-out and test rows")
      .Default("the preset's");
  line.AddExample("a small network on CIFAR-100, 5,000 images held out",
                  "resmem train resnet8 --images cifar100 --validation-rows 5000 -o run");
  line.AddExample("the paper's recipe",
                  "resmem train resnet8 --images cifar100 --preset paper -o paper-run");
  line.AddExample("a table", "resmem train mlp-128 --inputs x.npy --labels y.npy -o table-run");
}

Result<TrainRecipe> TrainCommand::MakeRecipe() const {
  TrainRecipe recipe = recipe_;
  RESMEM_RETURN_IF_ERROR(ApplyPreset(preset_, &recipe));
  const auto set = [](const auto& given, auto* value) {
    if (given.has_value()) *value = *given;
  };
  set(epochs_, &recipe.epochs);
  if (epochs_.has_value() && !warmup_epochs_.has_value()) {
    // A run of fewer epochs than the preset's warms up over the same share of them.
    TrainRecipe preset;
    RESMEM_RETURN_IF_ERROR(ApplyPreset(preset_, &preset));
    recipe.warmup_epochs *= static_cast<double>(*epochs_) / static_cast<double>(preset.epochs);
  }
  set(batch_, &recipe.batch);
  set(schedule_, &recipe.schedule);
  set(peak_rate_, &recipe.peak_rate);
  set(warmup_epochs_, &recipe.warmup_epochs);
  set(drop_epochs_, &recipe.drop_epochs);
  set(drop_factor_, &recipe.drop_factor);
  set(momentum_, &recipe.momentum);
  set(weight_decay_, &recipe.weight_decay);
  set(label_smoothing_, &recipe.label_smoothing);
  set(crop_padding_, &recipe.crop_padding);
  set(evaluate_every_, &recipe.evaluate_every);
  if (no_flip_) recipe.flip = false;
  RESMEM_RETURN_IF_ERROR(CheckTrainRecipe(recipe));
  return recipe;
}

Status TrainCommand::PrepareFolder(const TrainRecipe& recipe) const {
  RESMEM_RETURN_IF_ERROR(MakeRunFolder(folder_));
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<FileLock> lock, LockRun(folder_));
  const std::string path = folder_ + "/recipe.json";
  std::error_code failed;
  if (fs::exists(path, failed)) {
    RESMEM_ASSIGN_OR_RETURN(const TrainRecipe present, ReadTrainRecipe(path));
    const std::string difference = RecipeDifference(present, recipe);
    if (difference.empty()) return {};
    // A run that never finished an epoch has nothing to lose.
    const bool begun = fs::exists(folder_ + "/log.jsonl", failed);
    if (!begun) return WriteTrainRecipe(path, recipe);
    return HoldsAnotherRun(folder_, difference, kOtherRunAdvice);
  }
  return WriteTrainRecipe(path, recipe);
}

Status TrainCommand::CheckWhatWasTrained(const TrainRecipe& recipe) const {
  RESMEM_ASSIGN_OR_RETURN(const TrainRecipe present, ReadTrainRecipe(folder_ + "/recipe.json"));
  const std::string difference = RecipeDifference(present, recipe);
  return difference.empty() ? Status() : HoldsAnotherRun(folder_, difference, kOtherRunAdvice);
}

Result<ExitCode> TrainCommand::Run(Console& console) {
  RESMEM_RETURN_IF_ERROR(FindTrainingProgram().status());
  RESMEM_ASSIGN_OR_RETURN(const TrainRecipe recipe, MakeRecipe());
  RESMEM_RETURN_IF_ERROR(PrepareFolder(recipe));
  RESMEM_RETURN_IF_ERROR(RunTrainingProgram(folder_, console));
  RESMEM_RETURN_IF_ERROR(CheckWhatWasTrained(recipe));
  RESMEM_RETURN_IF_ERROR(PrintRunFolder(folder_));
  SuggestMemory(recipe, console);
  return ExitCode::kOk;
}

void TrainCommand::SuggestMemory(const TrainRecipe& recipe, Console& console) const {
  const std::string model = folder_ + "/last.onnx";
  const bool some_rows = recipe.rows > 0 || recipe.validation_rows > 0;
  if (recipe.images.empty()) {
    std::vector<std::string> embed = {"embed",       model, recipe.inputs, "--labels",
                                      recipe.labels, "-o",  "NEW.arrays"};
    if (some_rows) embed.insert(embed.end(), {"--split", folder_ + "/split.npy"});
    SuggestNext(embed, console);
    return;
  }
  std::vector<std::string> words = {"memorize", "--model", model, "--images", recipe.images};
  const auto add = [&](const char* option, const std::string& value) {
    if (value.empty()) return;
    words.push_back(option);
    words.push_back(value);
  };
  add("--part", recipe.part);
  add("--labels", recipe.labels);
  // Rows that the network did not learn from stay out of the memory.
  if (some_rows) add("--split", folder_ + "/split.npy");
  words.insert(words.end(), {"-o", "NEW.resmem"});
  SuggestNext(words, console);
}

}  // namespace

std::unique_ptr<Command> MakeTrain() {
  return std::make_unique<TrainCommand>();
}

}  // namespace resmem::cli
