#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"
#include "reproduce/corruption.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

constexpr uint64_t kNoiseSeed = 1;

}  // namespace

Result<Json> JudgeShift(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, context.base));
  RESMEM_ASSIGN_OR_RETURN(
      const ResidualMemory memory,
      OpenMemory(workspace, base, base.name, base.train.Take(base.split.train)));
  RESMEM_ASSIGN_OR_RETURN(const OnnxModel model,
                          OnnxModel::Open(base.model, workspace.options().runtime));
  const std::vector<NamedParameters> parameters = ParametersFor(context.ResultOf(context.base));
  const auto judge = [&](const Embedded& test) -> Result<Json> {
    Json at = Json::object();
    for (const NamedParameters& named : parameters) {
      RESMEM_ASSIGN_OR_RETURN(at[named.name],
                              Judge(workspace, memory, test.view(), named.parameters));
    }
    return at;
  };
  Json result = {{"run", context.base}, {"seed", kNoiseSeed}};
  RESMEM_ASSIGN_OR_RETURN(result["clean"], judge(base.test));
  for (const Corruption corruption :
       {Corruption::kGaussianNoise, Corruption::kBlur, Corruption::kBrightness}) {
    Json strengths = Json::array();
    for (int strength = 1; strength <= kMostCorruption; ++strength) {
      RESMEM_ASSIGN_OR_RETURN(const Embedded worse,
                              Embed(model, workspace.test(), workspace.console(),
                                    [&](int64_t first, std::span<uint8_t> pixels) {
                                      return Corrupt(corruption, strength, kNoiseSeed, first,
                                                     workspace.test().shape(), pixels);
                                    }));
      RESMEM_ASSIGN_OR_RETURN(Json at, judge(worse));
      strengths.push_back({{"strength", strength}, {"at", std::move(at)}});
    }
    result["corruptions"][CorruptionName(corruption)] = std::move(strengths);
  }
  return result;
}

}  // namespace resmem::cli::reproduce::cifar100
