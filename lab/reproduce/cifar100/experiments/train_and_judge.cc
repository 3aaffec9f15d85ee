#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

// The lambda that is best on the held-out rows, and what it gives on the test rows.
Json BestMixture(const Json& held_out, const Json& test) {
  const Json& candidates = At(held_out, "knn_lm");
  Json best;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const std::string place = "knn_lm/" + std::to_string(i);
    if (best.is_null() ||
        NumberAt(held_out, place + "/accuracy/value") > NumberAt(best, "held_out/value")) {
      best = {{"lambda", NumberAt(held_out, place + "/lambda")},
              {"held_out", At(held_out, place + "/accuracy")},
              {"accuracy", At(test, place + "/accuracy")}};
    }
  }
  return best;
}

Result<Json> TuneOnHeldOut(const Workspace& workspace, const ResidualMemory& memory,
                           const Embedded& held_out, const Embedded& learned,
                           const Embedded& test) {
  Json tuned = Json::object();
  for (const Objective objective : {Objective::kGain, Objective::kTprUnderFpr}) {
    RESMEM_ASSIGN_OR_RETURN(const Choice choice,
                            Choose(workspace, memory, held_out.view(), objective));
    RESMEM_ASSIGN_OR_RETURN(Json on_test, Judge(workspace, memory, test.view(), choice.parameters,
                                                {.baselines = true}));
    RESMEM_ASSIGN_OR_RETURN(Json on_held_out, Judge(workspace, memory, held_out.view(),
                                                    choice.parameters, {.baselines = true}));
    RESMEM_ASSIGN_OR_RETURN(Json on_train,
                            Judge(workspace, memory, learned.view(), choice.parameters));
    const char* const name = objective == Objective::kGain ? "gain" : "tpr-under-fpr";
    tuned[name] = {{"chosen", choice.json},
                   {"knn_lm", BestMixture(on_held_out, on_test)},
                   {"test", std::move(on_test)},
                   {"train", std::move(on_train)}};
  }
  return tuned;
}

}  // namespace

Result<Json> TrainAndJudge(const Context& context, const TrainingRun& run) {
  Workspace& workspace = context.workspace;
  RESMEM_RETURN_IF_ERROR(Train(run, workspace));
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, run.name));
  const Embedded learned = base.train.Take(base.split.train);
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                          OpenMemory(workspace, base, base.name, learned));
  const Json last = LastEpoch(workspace, run.name);
  Json result = {{"run", run.name},
                 {"network", run.network},
                 {"preset", run.preset},
                 {"seed", run.seed},
                 {"epochs", CountAt(last, "epoch")},
                 {"weight_decay", RecipeOf(run, workspace).weight_decay},
                 {"precision", TextAt(last, "precision")},
                 {"learned_rows", std::ssize(base.split.train)},
                 {"held_out_rows", std::ssize(base.split.validation)},
                 {"training_seconds", NumberAt(last, "seconds")},
                 {"model", base.fingerprint.digest}};
  RESMEM_ASSIGN_OR_RETURN(result["test"], Judge(workspace, memory, base.test.view(),
                                                kPaperParameters, {.baselines = true}));
  // Each training image is in the memory and finds itself.
  RESMEM_ASSIGN_OR_RETURN(result["train"],
                          Judge(workspace, memory, learned.view(), kPaperParameters));
  RESMEM_ASSIGN_OR_RETURN(result["typical_distance"],
                          TypicalDistance(workspace, memory, base.test.view()));
  if (base.split.validation.empty()) return result;
  const Embedded held_out = base.train.Take(base.split.validation);
  RESMEM_ASSIGN_OR_RETURN(result["tuned"],
                          TuneOnHeldOut(workspace, memory, held_out, learned, base.test));
  return result;
}

}  // namespace resmem::cli::reproduce::cifar100
