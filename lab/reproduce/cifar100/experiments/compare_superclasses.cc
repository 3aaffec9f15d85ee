#include <map>

#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"
#include "reproduce/image_counts.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

Result<ResidualMemory> MemoryOf(Workspace& workspace, const Base& base) {
  return OpenMemory(workspace, base, base.name, base.train.Take(base.split.train));
}

// What one network and its memory answer to every test image.
Result<std::vector<RowResult>> AnswersOfRun(Workspace& workspace, const Base& base,
                                            const Parameters& parameters) {
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, MemoryOf(workspace, base));
  EvaluationOptions options;
  options.parameters = parameters;
  options.baselines = false;
  options.keep_rows = base.test.count();
  options.threads = workspace.threads();
  options.progress = workspace.console().progress();
  RESMEM_ASSIGN_OR_RETURN(Evaluation evaluation,
                          Evaluate(Predictor(memory), ReadRows(base.test.view()), options));
  return std::move(evaluation.row_results);
}

std::string ClassName(const Workspace& workspace, int32_t label) {
  const std::vector<std::string>& names = workspace.test().class_names();
  const auto at = static_cast<size_t>(label);
  return at < names.size() ? names[at] : "class " + std::to_string(label);
}

}  // namespace

Result<Json> CompareSuperclasses(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, context.base));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, MemoryOf(workspace, base));
  Json at = Json::object();
  for (const NamedParameters& named : ParametersFor(context.ResultOf(context.base))) {
    RESMEM_ASSIGN_OR_RETURN(at[named.name], Judge(workspace, memory, base.test.view(),
                                                  named.parameters, {.coarse = true}));
  }
  return Json{{"run", context.base}, {"at", std::move(at)}};
}

Result<Json> PoolSuperclasses(const Context& context) {
  constexpr int64_t kSamples = 2000;
  constexpr uint64_t kSeed = 1;
  Workspace& workspace = context.workspace;
  std::map<std::string, std::vector<ImageCounts>> counts;  // by setting
  Json runs = Json::array();
  for (const std::string& run : RunsNamed("short-resnet8-")) {
    const Json& result = context.ResultOf(run);
    if (result.is_null()) continue;
    RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, run));
    for (const NamedParameters& named : ParametersFor(result)) {
      RESMEM_ASSIGN_OR_RETURN(const std::vector<RowResult> rows,
                              AnswersOfRun(workspace, base, named.parameters));
      AddAnswers(rows, workspace.coarse_of_class(), &counts[named.name]);
    }
    runs.push_back(run);
  }
  Json at = Json::object();
  for (const auto& [name, images] : counts) {
    const PooledDifference pooled = Pool(images, kSamples, kSeed);
    const ImageCounts& total = pooled.total;
    at[name] = {{"fixed", ToJson(MakeAccuracy(total.fixed_same, total.fixed))},
                {"not_fixed", ToJson(MakeAccuracy(total.other_same, total.other))},
                {"difference", pooled.difference},
                {"interval", ToJson(pooled.interval)}};
  }
  return Json{{"runs", std::move(runs)}, {"samples", kSamples}, {"at", std::move(at)}};
}

Result<Json> PickExamples(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, context.base));
  RESMEM_ASSIGN_OR_RETURN(const std::vector<RowResult> rows,
                          AnswersOfRun(workspace, base, kPaperParameters));
  const std::vector<int32_t>& coarse = workspace.coarse_of_class();
  // The first of each superclass, in the order of the test images.
  std::map<int32_t, Json> fixed, harmed;
  for (const RowResult& row : rows) {
    const int32_t wrong = row.base == row.label ? row.resmem : row.base;
    const bool is_fixed = row.base != row.label && row.resmem == row.label;
    const bool is_harmed = row.base == row.label && row.resmem != row.label;
    const int32_t superclass = coarse[static_cast<size_t>(row.label)];
    if (!is_fixed && !is_harmed) continue;
    if (coarse[static_cast<size_t>(wrong)] != superclass) continue;
    (is_fixed ? fixed : harmed)
        .try_emplace(superclass, Json{{"row", row.row},
                                      {"truth", ClassName(workspace, row.label)},
                                      {"base", ClassName(workspace, row.base)},
                                      {"base_probability", row.base_probability},
                                      {"resmem", ClassName(workspace, row.resmem)},
                                      {"resmem_probability", row.resmem_probability}});
  }
  Json result = {{"run", context.base}, {"fixed", Json::array()}, {"harmed", Json::array()}};
  for (const auto& [superclass, example] : fixed) result["fixed"].push_back(example);
  for (const auto& [superclass, example] : harmed) result["harmed"].push_back(example);
  return result;
}

}  // namespace resmem::cli::reproduce::cifar100
