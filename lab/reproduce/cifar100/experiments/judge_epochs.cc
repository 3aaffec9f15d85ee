#include <cstdio>

#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {

Result<Json> JudgeEpochs(const Context& context) {
  Workspace& workspace = context.workspace;
  const TrainingRun& run = *FindTrainingRun("paper-resnet8-seed1");
  Json epochs = Json::array();
  for (const int64_t epoch : RecipeOf(run, workspace).keep_epochs) {
    char model[32];
    std::snprintf(model, sizeof model, "epoch-%04lld", static_cast<long long>(epoch));
    RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, run.name, model));
    const Embedded learned = base.train.Take(base.split.train);
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            OpenMemory(workspace, base, base.name, learned));
    RESMEM_ASSIGN_OR_RETURN(Json test, Judge(workspace, memory, base.test.view(), kPaperParameters,
                                             {.baselines = true}));
    epochs.push_back({{"epoch", epoch}, {"test", std::move(test)}});
  }
  return Json{{"run", run.name}, {"epochs", std::move(epochs)}};
}

}  // namespace resmem::cli::reproduce::cifar100
