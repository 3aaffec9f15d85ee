#include <filesystem>

#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

// Of CIFAR-100's training images, as nearly every published network uses them.
constexpr float kMean[] = {0.5070f, 0.4865f, 0.4409f};
constexpr float kDeviation[] = {0.2673f, 0.2564f, 0.2761f};

// The file itself where a manifest lies beside it, else a prepared copy in models/.
Result<std::string> PreparedModel(const Workspace& workspace) {
  const std::string& given = workspace.options().pretrained;
  if (std::filesystem::exists(ManifestPath(given))) return given;
  const std::string path = workspace.Path("models", "pretrained.onnx");
  PrepareOptions options;
  options.height = workspace.test().shape().height;
  options.width = workspace.test().shape().width;
  options.mean.assign(std::begin(kMean), std::end(kMean));
  options.deviation.assign(std::begin(kDeviation), std::end(kDeviation));
  RESMEM_ASSIGN_OR_RETURN(const ModelManifest manifest,
                          PrepareOnnx(given, options, path, workspace.options().runtime));
  static_cast<void>(manifest);
  return path;
}

// The network has learned from all training images: half of the test images stands for held-out
// rows, the other half judges.
struct Halved {
  Base base;
  TrainSplit test;
};

Result<Halved> HalvePretrained(Workspace& workspace) {
  RESMEM_ASSIGN_OR_RETURN(const std::string model, PreparedModel(workspace));
  RESMEM_ASSIGN_OR_RETURN(Base base, LoadModel(workspace, "pretrained", model));
  TrainRecipe halves;
  halves.validation_rows = base.test.count() / 2;
  RESMEM_ASSIGN_OR_RETURN(TrainSplit half, DrawTrainSplit(halves, base.test.count()));
  return Halved{std::move(base), std::move(half)};
}

}  // namespace

Result<Json> JudgePretrained(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const std::string model, PreparedModel(workspace));
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadModel(workspace, "pretrained", model));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                          OpenMemory(workspace, base, base.name, base.train));
  Json result = {
      {"file", std::filesystem::path(workspace.options().pretrained).filename().string()},
      {"model", base.fingerprint.digest},
      {"embedding", base.fingerprint.layer}};
  RESMEM_ASSIGN_OR_RETURN(result["test"], Judge(workspace, memory, base.test.view(),
                                                kPaperParameters, {.baselines = true}));
  RESMEM_ASSIGN_OR_RETURN(result["train"],
                          Judge(workspace, memory, base.train.view(), kPaperParameters));

  // The network has learned from all rows: those kept out of the memory are no honest judges, and
  // what they choose shows how far they mislead.
  TrainRecipe draw;
  draw.validation_rows = workspace.held_out_rows();
  RESMEM_ASSIGN_OR_RETURN(const TrainSplit split, DrawTrainSplit(draw, base.train.count()));
  RESMEM_ASSIGN_OR_RETURN(
      const ResidualMemory most,
      OpenMemory(workspace, base, base.name + "-most", base.train.Take(split.train)));
  RESMEM_ASSIGN_OR_RETURN(
      const Choice choice,
      Choose(workspace, most, base.train.Take(split.validation).view(), Objective::kGain));
  RESMEM_ASSIGN_OR_RETURN(Json test, Judge(workspace, memory, base.test.view(), choice.parameters));
  result["out_of_memory"] = {{"chosen", choice.json}, {"test", std::move(test)}};

  // Half of the test rows choose, the other half judges.
  TrainRecipe halves;
  halves.validation_rows = base.test.count() / 2;
  RESMEM_ASSIGN_OR_RETURN(const TrainSplit half, DrawTrainSplit(halves, base.test.count()));
  RESMEM_ASSIGN_OR_RETURN(
      const Choice fair,
      Choose(workspace, memory, base.test.Take(half.validation).view(), Objective::kGain));
  RESMEM_ASSIGN_OR_RETURN(
      Json other, Judge(workspace, memory, base.test.Take(half.train).view(), fair.parameters));
  result["half_of_test"] = {{"chosen", fair.json}, {"test", std::move(other)}};
  return result;
}

Result<Json> JudgePretrainedPredictor(const Context& context) {
  RESMEM_ASSIGN_OR_RETURN(const Halved halved, HalvePretrained(context.workspace));
  const Base& base = halved.base;
  return JudgeAnswers(context.workspace, base, base.train, base.test.Take(halved.test.validation),
                      base.test.Take(halved.test.train));
}

Result<Json> JudgePretrainedShift(const Context& context) {
  RESMEM_ASSIGN_OR_RETURN(const Halved halved, HalvePretrained(context.workspace));
  const Base& base = halved.base;
  return JudgeShiftedAnswers(context.workspace, base, base.train,
                             base.test.Take(halved.test.validation), halved.test.train);
}

}  // namespace resmem::cli::reproduce::cifar100
