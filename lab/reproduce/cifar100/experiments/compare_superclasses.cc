#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {

Result<Json> CompareSuperclasses(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, context.base));
  RESMEM_ASSIGN_OR_RETURN(
      const ResidualMemory memory,
      OpenMemory(workspace, base, base.name, base.train.Take(base.split.train)));
  Json at = Json::object();
  for (const NamedParameters& named : ParametersFor(context.ResultOf(context.base))) {
    RESMEM_ASSIGN_OR_RETURN(at[named.name], Judge(workspace, memory, base.test.view(),
                                                  named.parameters, {.coarse = true}));
  }
  return Json{{"run", context.base}, {"at", std::move(at)}};
}

}  // namespace resmem::cli::reproduce::cifar100
