#include "reproduce/imagenet/steps.h"

#include "reproduce/imagenet/experiments.h"

namespace resmem::cli::reproduce::imagenet {

std::vector<Step> ListSteps(Workspace& workspace) {
  std::vector<Step> steps;
  const auto photos = static_cast<double>(workspace.memory().size() + workspace.tune().size() +
                                          workspace.judge().size());
  for (const Network& network : workspace.networks()) {
    const auto add = [&](const std::string& kind, const std::string& title, double seconds,
                         Result<Json> (*run)(Workspace&, const Network&)) {
      Step step;
      step.name = kind + "-" + network.name;
      step.title = title;
      step.seconds = seconds * photos / 26000;
      step.settings = {{"model", network.digest},
                       {"mean", workspace.options().mean},
                       {"deviation", workspace.options().deviation},
                       {"reduce", workspace.options().reduce}};
      step.run = [run, &workspace, &network](const StepContext&) {
        return run(workspace, network);
      };
      steps.push_back(std::move(step));
    };
    add("table", "base, k-NN, ResMem and blend", 300, JudgeTable);
    add("controls", "the memory, or only the photos' resolution?", 300, JudgeControls);
  }
  return steps;
}

}  // namespace resmem::cli::reproduce::imagenet
