// How a base network is trained: what `resmem train` writes to recipe.json in the run's folder
// and the training program reads from there.  One file says everything that the run depends on.
#ifndef RESMEM_LAB_RECIPE_TRAIN_RECIPE_H_
#define RESMEM_LAB_RECIPE_TRAIN_RECIPE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "recipe/named_values.h"
#include "resmem/status.h"

namespace resmem {

// How the learning rate moves.  Both begin with a linear rise from 0 to the peak.
//   kSteps     the peak, times `drop_factor` after each of `drop_epochs`
//   kOneCycle  half a cosine from the peak down to 0 at the last step
enum class RateSchedule { kSteps, kOneCycle };
constexpr auto NamesOf(RateSchedule) {
  return std::to_array<NamedValue<RateSchedule>>(
      {{"steps", RateSchedule::kSteps}, {"one-cycle", RateSchedule::kOneCycle}});
}

// In which numbers networks multiply while they learn; sums, weights and statistics are float32.
//   kAuto      bfloat16 where network and processor can (ResNets; AMX tiles), else float32
enum class Precision { kAuto, kFloat32, kBfloat16 };
constexpr auto NamesOf(Precision) {
  return std::to_array<NamedValue<Precision>>({{"auto", Precision::kAuto},
                                               {"float32", Precision::kFloat32},
                                               {"bfloat16", Precision::kBfloat16}});
}

struct TrainRecipe {
  // resnet8, 14, 20, 32, 44 or 56; mobilenetv2-WIDTH (0.35 .. 1.4); linear; mlp-HIDDEN[-HIDDEN..].
  std::string network = "resnet8";

  // Images as ImageSet takes them, or, for linear and mlp, `inputs` and `labels` as arrays.
  std::string images;
  std::string part = "train";  // of a folder that holds both
  std::string inputs, labels;
  int64_t height = 0, width = 0;  // of an image, where files are resized; 0: as they are
  int64_t rows = 0;               // learn from this many, drawn by the seed; 0: all
  bool balanced = false;          // `rows`: as many of each class as of any other, or one more
  int64_t validation_rows = 0;    // held out, drawn by the seed before `rows`; best model by them
  std::string test_part;          // watched in the log, never used to choose; empty: none
  int64_t crop_padding = 4;       // random crops of the image padded by this; 0: none
  bool flip = true;               // left and right, at random

  std::string preset = "short";  // where the values below came from
  int64_t epochs = 24;
  int64_t batch = 128;  // rows a step
  RateSchedule schedule = RateSchedule::kOneCycle;
  double peak_rate = 0.4;
  double warmup_epochs = 5;
  std::vector<int64_t> drop_epochs;
  double drop_factor = 0.1;
  double momentum = 0.9;
  bool nesterov = true;
  double weight_decay = 1e-4;
  double label_smoothing = 0;
  uint64_t seed = 1;
  Precision precision = Precision::kAuto;
  int64_t threads = 0;               // 0: as many as the machine has
  int64_t evaluate_every = 1;        // epochs between looks at validation and test rows
  std::vector<int64_t> keep_epochs;  // models exported besides the last and the best

  bool operator==(const TrainRecipe&) const = default;
};

enum class NetworkFamily { kResNet, kMobileNet, kPerceptron };
struct NetworkName {
  NetworkFamily family = NetworkFamily::kResNet;
  int64_t depth = 0;            // of a ResNet
  double width = 0;             // of a MobileNet: the multiplier of its channels
  std::vector<int64_t> hidden;  // of a perceptron; empty: linear
};
Result<NetworkName> ParseNetworkName(const std::string& name);

// "paper": the recipe of the paper's section on images.  "short": a single cycle of a tenth of the
// epochs; "long": the same of three eighths (what each reaches: docs/results/cifar100.md).
// kInvalidArgument for another name.
Status ApplyPreset(const std::string& name, TrainRecipe* recipe);

// Every value in its bounds, every name known.  Files are not looked at.
Status CheckTrainRecipe(const TrainRecipe& recipe);

// Rows of the training part by what they are for, each list rising.
struct TrainSplit {
  std::vector<int64_t> train, validation;
};
// Drawn by the recipe's seed from `rows` of them: first the held-out ones, then those to learn
// from, so that with one seed a smaller `recipe.rows` is a part of a larger one and never touches
// what is held out.  kInvalidArgument where the recipe asks for more than there are.
Result<TrainSplit> DrawTrainSplit(const TrainRecipe& recipe, int64_t rows);
// The same of rows with these labels, as a balanced recipe needs it.  What is held out does not
// depend on `balanced`; a class that has too few rows gives what it has, and the others more.
Result<TrainSplit> DrawTrainSplit(const TrainRecipe& recipe, std::span<const int32_t> labels);

// The first field in which two recipes differ, with both values; empty: none.
std::string RecipeDifference(const TrainRecipe& a, const TrainRecipe& b);

Status WriteTrainRecipe(const std::string& path, const TrainRecipe& recipe);
// Errors: kNotFound, kBadData with the field, kIo.
Result<TrainRecipe> ReadTrainRecipe(const std::string& path);

}  // namespace resmem

#endif  // RESMEM_LAB_RECIPE_TRAIN_RECIPE_H_
