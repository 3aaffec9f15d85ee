// libFuzzer's entry for what the laboratory keeps of a training run: checkpoints and networks,
// whose checksums are made right after the damage, recipes and the log.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base_model/model_file.h"
#include "fixtures/file_bytes.h"
#include "fuzz/seal.h"
#include "fuzz/target.h"
#include "lm_training/lm_training.h"
#include "lm_training/run_state.h"
#include "recipe/train_recipe.h"

namespace resmem {
namespace {

// Of this process, and gone with it.
const std::string& Folder() {
  static const std::string folder = [] {
    const std::string parent = ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    std::string path = parent + "/checkpoint_fuzz_" + std::to_string(::getpid());
    std::filesystem::create_directories(path);
    return path;
  }();
  static const bool once = std::atexit([] { std::filesystem::remove_all(Folder()); }) == 0;
  Require(once);
  return folder;
}

std::string Put(const char* name, std::string_view bytes) {
  const std::string path = Folder() + "/" + name;
  fixtures::WriteBytes(path, std::string(bytes));
  return path;
}

std::string Sealed(std::string_view input) {
  std::string bytes(input);
  SealForged(&bytes);
  return bytes;
}

constexpr char kData[] = "0123";
constexpr char kCheckpoint[] = "checkpoint-00000003";

// What a trainer restores into.
struct State {
  std::vector<float> weights = {1, 2, 3}, moments = {4, 5};
  NamedValues values() { return {{"weights", weights}, {"moments", moments}}; }
};

Status ReadRun(std::string_view input) {
  Put(kCheckpoint, Sealed(input));
  State state;
  std::vector<std::string> notes;
  const auto progress = RestoreRun(RunFolder(Folder(), kLmRun), kData, state.values(),
                                   [&](const std::string& note) { notes.push_back(note); });
  Require(!progress.ok() || (progress->step > 0) == notes.empty());
  std::filesystem::remove(Folder() + "/" + kCheckpoint);
  return progress.status();
}

Status ReadNetwork(std::string_view input) {
  const auto network = LoadNetwork(Put("network", Sealed(input)));
  return network.ok() ? SaveNetwork(*network, Folder() + "/again") : network.status();
}

Status ReadImageRecipe(std::string_view input) {
  const auto recipe = ReadTrainRecipe(Put("recipe.json", input));
  if (!recipe.ok()) return recipe.status();
  RESMEM_RETURN_IF_ERROR(CheckTrainRecipe(*recipe));
  return DrawTrainSplit(*recipe, 50).status();
}

Status ReadTextRecipe(std::string_view input) {
  const auto recipe = ReadLmRecipe(Put("recipe.json", input));
  return recipe.ok() ? CheckLmRecipe(*recipe) : recipe.status();
}

Status ReadLog(std::string_view input) {
  Put("log.jsonl", input);
  const Status cut = RunFolder(Folder(), kLmRun).CutLog(2);
  std::filesystem::remove(Folder() + "/log.jsonl");
  return cut;
}

template <typename Write>
std::string Written(const char* name, Write write) {
  const std::string path = Folder() + "/" + name;
  Require(write(path).ok());
  return fixtures::ReadBytes(path);
}

std::string SoundRun() {
  return Written(kCheckpoint, [](const std::string&) {
    State state;
    RunProgress progress;
    progress.step = 3;
    return SaveRun(RunFolder(Folder(), kLmRun), progress, kData, state.values());
  });
}

std::string SoundNetwork() {
  Network network = MakeNetwork(2, 3, 2);
  network.standardizer.mean = {0, 1};
  network.standardizer.scale = {1, 2};
  return Written("network", [&](const std::string& path) { return SaveNetwork(network, path); });
}

}  // namespace

std::vector<Kind> Kinds() {
  const auto image = [](const std::string& path) {
    TrainRecipe recipe;
    recipe.images = "photos";
    return WriteTrainRecipe(path, recipe);
  };
  const auto text = [](const std::string& path) {
    LmRecipe recipe;
    recipe.tokens = "t.tokens";
    return WriteLmRecipe(path, recipe);
  };
  return {{"checkpoint", SoundRun(), ReadRun},
          {"network", SoundNetwork(), ReadNetwork},
          {"image recipe", Written("recipe.json", image), ReadImageRecipe},
          {"text recipe", Written("recipe.json", text), ReadTextRecipe},
          {"log", "{\"step\":1,\"loss\":2.5}\n{\"step\":2}\n{\"step\":3}\n{\"st", ReadLog}};
}

}  // namespace resmem
