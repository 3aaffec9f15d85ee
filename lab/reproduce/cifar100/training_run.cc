#include "reproduce/cifar100/training_run.h"

#include <array>
#include <filesystem>
#include <fstream>

#include "recipe/run_folder.h"
#include "reproduce/training_program.h"
#include "resmem_program/simd.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

namespace fs = std::filesystem;

std::vector<TrainingRun> ListRuns() {
  std::vector<TrainingRun> runs;
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    runs.push_back({"short-resnet8-seed" + std::to_string(seed), "resnet8", "short", seed});
  }
  for (const char* depth : {"14", "20", "32", "44", "56"}) {
    const std::string network = std::string("resnet") + depth;
    TrainingRun run{"short-" + network + "-seed1", network, "short"};
    run.by_default = network == "resnet14" || network == "resnet20";
    runs.push_back(run);
  }
  // Drawn class by class, as in the paper; and without regard to the class, as once measured.
  const auto add_share = [&](const std::string& family, const std::string& network, int64_t share,
                             bool by_default) {
    TrainingRun run{family + "-" + network + "-" + std::to_string(share), network, "short", 1,
                    share};
    run.by_default = by_default;
    run.balanced = family == "balanced";
    runs.push_back(run);
  };
  for (int64_t share = 10; share < 100; share += 10) add_share("balanced", "resnet8", share, true);
  for (const char* const network : {"resnet14", "resnet20"}) {
    for (const int64_t share : {10, 40}) add_share("balanced", network, share, false);
  }
  for (const int64_t share : {10, 20, 40, 60, 80}) add_share("size", "resnet8", share, share == 40);
  runs.push_back({"long-resnet8-seed1", "resnet8", "long", 1, 100, /*holds_out=*/false});
  runs.push_back({"paper-resnet8-seed1", "resnet8", "paper", 1, 100, /*holds_out=*/false,
                  /*keep_epochs=*/{128, 160, 192, 224, 256}});
  return runs;
}

// Places and speed do not change what is learned.
TrainRecipe WithoutPlaces(TrainRecipe recipe) {
  recipe.images.clear();
  recipe.test_part.clear();
  recipe.threads = 0;
  recipe.evaluate_every = 1;
  return recipe;
}

bool Finished(const Workspace& workspace, const TrainingRun& run, const TrainRecipe& recipe) {
  const std::string folder = workspace.Path("runs", run.name);
  return CountAt(LastEpoch(workspace, run.name), "epoch") >= recipe.epochs &&
         fs::exists(folder + "/last.onnx") && fs::exists(folder + "/last.json");
}

}  // namespace

std::span<const TrainingRun> TrainingRuns() {
  static const std::vector<TrainingRun> kRuns = ListRuns();
  return kRuns;
}

const TrainingRun* FindTrainingRun(const std::string& name) {
  for (const TrainingRun& run : TrainingRuns()) {
    if (run.name == name) return &run;
  }
  return nullptr;
}

std::vector<std::string> RunsNamed(const std::string& beginning) {
  std::vector<std::string> names;
  for (const TrainingRun& run : TrainingRuns()) {
    if (run.name.starts_with(beginning)) names.push_back(run.name);
  }
  return names;
}

TrainRecipe RecipeOf(const TrainingRun& run, const Workspace& workspace) {
  TrainRecipe recipe;
  static_cast<void>(ApplyPreset(run.preset, &recipe));  // the list names known ones only
  recipe.network = run.network;
  recipe.images = fs::absolute(workspace.data()).lexically_normal().string();
  recipe.test_part = "test";
  recipe.seed = run.seed;
  recipe.validation_rows = run.holds_out ? workspace.held_out_rows() : 0;
  const int64_t left = workspace.train().size() - recipe.validation_rows;
  recipe.rows = run.share == 100 ? 0 : left * run.share / 100;
  recipe.balanced = run.balanced;
  recipe.threads = workspace.options().training_threads;
  recipe.evaluate_every = run.preset == "short" ? 2 : 8;
  recipe.keep_epochs = run.keep_epochs;
  if (workspace.options().quick) {
    recipe.epochs = 2;
    recipe.warmup_epochs = 1;
    recipe.drop_epochs.clear();
    recipe.peak_rate = 0.05;
    if (!recipe.keep_epochs.empty()) recipe.keep_epochs = {1, 2};
  }
  return recipe;
}

Json RecipeSettings(const TrainRecipe& recipe) {
  Json settings = {{"network", recipe.network},
                   {"preset", recipe.preset},
                   {"rows", recipe.rows},
                   {"held_out_rows", recipe.validation_rows},
                   {"epochs", recipe.epochs},
                   {"batch", recipe.batch},
                   {"schedule", NameOf(recipe.schedule)},
                   {"peak_rate", recipe.peak_rate},
                   {"warmup_epochs", recipe.warmup_epochs},
                   {"drop_epochs", recipe.drop_epochs},
                   {"drop_factor", recipe.drop_factor},
                   {"momentum", recipe.momentum},
                   {"nesterov", recipe.nesterov},
                   {"weight_decay", recipe.weight_decay},
                   {"label_smoothing", recipe.label_smoothing},
                   {"crop_padding", recipe.crop_padding},
                   {"flip", recipe.flip},
                   {"seed", recipe.seed}};
  // Records from before there was a choice do not name it.
  if (recipe.balanced) settings["balanced"] = true;
  return settings;
}

double TrainingSeconds(const TrainRecipe& recipe, int64_t rows) {
  // Milliseconds for a row in float32, measured with two runs on the two cores (docs/reproduce.md).
  constexpr std::array<std::pair<const char*, double>, 6> kCost = {{{"resnet8", 1.5},
                                                                    {"resnet14", 3.0},
                                                                    {"resnet20", 4.4},
                                                                    {"resnet32", 6.9},
                                                                    {"resnet44", 9.3},
                                                                    {"resnet56", 11.6}}};
  for (const auto& [network, milliseconds] : kCost) {
    if (recipe.network != network) continue;
    const int64_t learned = recipe.rows > 0 ? recipe.rows : rows - recipe.validation_rows;
    const double faster = SimdName() == "amx" ? 3 : 1;  // bfloat16 on tiles
    return milliseconds / faster / 1000 * static_cast<double>(learned * recipe.epochs);
  }
  return 0;
}

Json LastEpoch(const Workspace& workspace, const std::string& run) {
  std::ifstream log(workspace.Path("runs", run) + "/log.jsonl");
  std::string line, last;
  while (std::getline(log, line)) last = line;
  Json json = Json::parse(last, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json();
}

Status Train(const TrainingRun& run, Workspace& workspace) {
  const TrainRecipe recipe = RecipeOf(run, workspace);
  const std::string folder = workspace.Path("runs", run.name);
  const std::string recipe_file = folder + "/recipe.json";
  if (fs::exists(recipe_file)) {
    RESMEM_ASSIGN_OR_RETURN(TrainRecipe found, ReadTrainRecipe(recipe_file));
    if (!(WithoutPlaces(found) == WithoutPlaces(recipe))) {
      return Status(ErrorCode::kMismatch,
                    recipe_file +
                        " is not the recipe of this run; move the folder away, or give "
                        "another --work");
    }
    if (Finished(workspace, run, recipe)) return {};
    if (!fs::exists(found.images)) {
      found.images = recipe.images;
      RESMEM_RETURN_IF_ERROR(WriteTrainRecipe(recipe_file, found));
    }
  } else {
    RESMEM_RETURN_IF_ERROR(MakeRunFolder(folder));
    RESMEM_RETURN_IF_ERROR(WriteTrainRecipe(recipe_file, recipe));
  }
  RESMEM_RETURN_IF_ERROR(RunTrainingProgram(folder, workspace.console()));
  if (Finished(workspace, run, recipe)) return {};
  return Status(ErrorCode::kIo, folder + ": the training program ended without a finished run");
}

}  // namespace resmem::cli::reproduce::cifar100
