#include "reproduce/cifar100/steps.h"

#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

const std::string kPaperRun = "paper-resnet8-seed1";
const std::string kShortRun = "short-resnet8-seed1";

std::string TitleOf(const TrainingRun& run) {
  std::string title =
      "train " + run.network + ", " + run.preset + " preset, seed " + std::to_string(run.seed);
  if (run.share != 100) title += ", " + std::to_string(run.share) + " % of the rows";
  if (run.balanced) title += " by class";
  return title + "; tune and judge";
}

void AddTraining(Workspace& workspace, const TrainingRun& run, std::vector<Step>* steps) {
  const TrainRecipe recipe = RecipeOf(run, workspace);
  Step step;
  step.name = run.name;
  step.title = TitleOf(run);
  step.by_default = run.by_default;
  step.seconds = TrainingSeconds(recipe, workspace.train().size());
  step.settings = RecipeSettings(recipe);
  step.run = [&run, &workspace](const StepContext& context) {
    return TrainAndJudge({context, workspace}, run);
  };
  steps->push_back(std::move(step));
}

}  // namespace

std::vector<Step> ListSteps(Workspace& workspace) {
  std::vector<Step> steps;
  for (const TrainingRun& run : TrainingRuns()) AddTraining(workspace, run, &steps);

  const std::vector<std::string> newest = {kPaperRun, kShortRun};
  const Json paper = {{"parameters", ToJson(kPaperParameters)}};
  const auto add = [&](const char* name, const char* title, double seconds,
                       std::vector<std::string> needs, std::vector<std::string> first_of,
                       std::vector<std::string> uses,
                       Result<Json> (*run)(const Context&)) -> Step& {
    Step step;
    step.name = name;
    step.title = title;
    step.seconds = seconds * static_cast<double>(workspace.train().size()) / 50000;
    step.needs = std::move(needs);
    step.first_of = std::move(first_of);
    step.uses = std::move(uses);
    step.settings = paper;
    step.run = [run, &workspace](const StepContext& context) { return run({context, workspace}); };
    return steps.emplace_back(std::move(step));
  };
  add("paper-tuned", "the paper's run at tuned k, sigma and T", 60, {kPaperRun, kShortRun}, {}, {},
      TunePaperRun);
  add("epochs", "base and ResMem by epoch of the paper's run", 120, {kPaperRun}, {}, {},
      JudgeEpochs);
  add("latency", "one image at a time, one thread", 15, {}, newest, {"short-resnet14-seed1"},
      MeasureLatency);
  add("sensitivity", "accuracy against k, sigma and T", 60, {}, newest, {}, SweepParameters);
  add("coarse", "errors within a superclass, fixed or not", 10, {}, newest, {},
      CompareSuperclasses);
  add("coarse-pooled", "the same over all seeds, intervals by image", 60, {kShortRun}, {},
      RunsNamed("short-resnet8-"), PoolSuperclasses);
  add("examples", "the first close error of each superclass that is fixed, or made", 10, {}, newest,
      {}, PickExamples);
  add("bytes", "what a memory takes, in several forms", 60, {}, newest, {"short-resnet14-seed1"},
      MeasureBytes);
  add("calibration", "probabilities before and after", 60, {kShortRun}, {kShortRun}, {},
      JudgeProbabilities);
  add("shift", "noise, blur and brightness at five strengths", 120, {}, newest, {}, JudgeShift);
  add("shift-blend", "the same for a tuned memory, which must stay near the base", 240, {},
      {kShortRun}, {}, JudgeBlendShift);
  for (const char* run : {"short-resnet8-seed1", "short-resnet8-seed2", "short-resnet8-seed3"}) {
    Step& step =
        add(("predictor-" + std::string(run)).c_str(),
            "every answer that the memory can give, side by side", 300, {run}, {}, {}, nullptr);
    step.run = [run, &workspace](const StepContext& context) {
      return JudgePredictor({context, workspace}, run);
    };
  }
  add("predictor-pretrained", "the same for the network from elsewhere (--pretrained)", 300, {}, {},
      {}, JudgePretrainedPredictor)
      .by_default = !workspace.options().pretrained.empty();
  add("shift-pretrained", "noise, blur and brightness for that network and a tuned memory", 400, {},
      {}, {}, JudgePretrainedShift)
      .by_default = !workspace.options().pretrained.empty();
  add("diagnosis", "why the gain is as large as it is", 120, {}, newest, {"size-resnet8-40"},
      Diagnose);
  add("pretrained-resnet20", "a network from elsewhere (--pretrained)", 90, {}, {}, {},
      JudgePretrained)
      .by_default = !workspace.options().pretrained.empty();
  return steps;
}

}  // namespace resmem::cli::reproduce::cifar100
