#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {

Result<Json> TunePaperRun(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, "paper-resnet8-seed1"));
  const Embedded learned = base.train.Take(base.split.train);
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                          OpenMemory(workspace, base, base.name, learned));
  const Json& own = context.ResultOf("paper-resnet8-seed1");
  const Json& lender = context.ResultOf("short-resnet8-seed1");
  Json result = Json::object();
  const auto judge = [&](const Parameters& parameters) {
    return Judge(workspace, memory, base.test.view(), parameters, {.baselines = true});
  };

  // Keys of another network have another unit of length: its ratio needs no labels.
  Parameters carried = ParametersAt(lender, "tuned/gain/chosen/parameters");
  RESMEM_ASSIGN_OR_RETURN(result["carried_over"], judge(carried));
  const double ratio = NumberAt(own, "typical_distance") / NumberAt(lender, "typical_distance");
  carried.sigma = static_cast<float>(carried.sigma * ratio);
  result["sigma_ratio"] = ratio;
  RESMEM_ASSIGN_OR_RETURN(result["carried_over_scaled"], judge(carried));

  // The network has learned from these rows; only the memory has not seen them.
  TrainRecipe draw;
  draw.validation_rows = workspace.held_out_rows();
  RESMEM_ASSIGN_OR_RETURN(const TrainSplit split, DrawTrainSplit(draw, learned.count()));
  RESMEM_ASSIGN_OR_RETURN(
      const ResidualMemory most,
      OpenMemory(workspace, base, base.name + "-most", learned.Take(split.train)));
  const Embedded rest = learned.Take(split.validation);
  RESMEM_ASSIGN_OR_RETURN(const Choice choice,
                          Choose(workspace, most, rest.view(), Objective::kGain));
  RESMEM_ASSIGN_OR_RETURN(Json test, judge(choice.parameters));
  result["out_of_memory"] = {{"chosen", choice.json}, {"test", std::move(test)}};
  return result;
}

}  // namespace resmem::cli::reproduce::cifar100
