#include <functional>
#include <numeric>

#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"
#include "reproduce/cifar100/tuned_memory.h"
#include "reproduce/corruption.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

constexpr uint64_t kNoiseSeed = 1;

// By name a list by strength of {strength, at: what judge() says}.
Result<Json> ForEveryCorruption(Workspace& workspace, const OnnxModel& model,
                                const std::function<Result<Json>(const Embedded&)>& judge) {
  Json corruptions = Json::object();
  for (const Corruption corruption :
       {Corruption::kGaussianNoise, Corruption::kBlur, Corruption::kBrightness}) {
    Json strengths = Json::array();
    for (int strength = 1; strength <= kMostCorruption; ++strength) {
      const auto corrupt = [&](int64_t first, std::span<uint8_t> pixels) {
        return Corrupt(corruption, strength, kNoiseSeed, first, workspace.test().shape(), pixels);
      };
      RESMEM_ASSIGN_OR_RETURN(const Embedded worse,
                              Embed(model, workspace.test(), workspace.console(), corrupt));
      RESMEM_ASSIGN_OR_RETURN(Json at, judge(worse));
      strengths.push_back({{"strength", strength}, {"at", std::move(at)}});
    }
    corruptions[CorruptionName(corruption)] = std::move(strengths);
  }
  return corruptions;
}

// Base, ResMem and the memory's own answer on these rows, with their gains over the base.
Result<Json> JudgeBoth(const Workspace& workspace, const ResidualMemory& memory, const Rows& rows) {
  Json json = Json::object();
  const Predictor predictor(memory);
  // The memory's own answer may be ResMem's, too.
  const std::pair<const char*, Method> judged[] = {{"resmem", Method::kResMem},
                                                   {"answer", memory.description().answer}};
  for (const auto& [name, method] : judged) {
    EvaluationOptions options;
    options.method = method;
    options.baselines = false;
    options.threads = workspace.threads();
    options.progress = workspace.console().progress();
    RESMEM_ASSIGN_OR_RETURN(const Evaluation evaluation,
                            Evaluate(predictor, ReadRows(rows), options));
    json["base"] = ToJson(evaluation.methods.front().accuracy);
    json["base_nll"] = evaluation.base_calibration.nll;
    json[name] = {{"accuracy", ToJson(evaluation.methods.back().accuracy)},
                  {"nll", evaluation.resmem_calibration.nll},
                  {"gain", ToJson(evaluation.gain)}};
  }
  return json;
}

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
  RESMEM_ASSIGN_OR_RETURN(result["corruptions"], ForEveryCorruption(workspace, model, judge));
  return result;
}

Result<Json> JudgeShiftedAnswers(Workspace& workspace, const Base& base, const Embedded& rows,
                                 const Embedded& held_out, std::span<const int64_t> judged) {
  RESMEM_ASSIGN_OR_RETURN(const TunedMemories tuned,
                          TuneWithEveryKeys(workspace, base, rows, held_out.view()));
  const ResidualMemory& memory = tuned.chosen().memory;
  RESMEM_ASSIGN_OR_RETURN(const OnnxModel model,
                          OnnxModel::Open(base.model, workspace.options().runtime));
  const auto judge = [&](const Embedded& test) {
    return JudgeBoth(workspace, memory, test.Take(judged).view());
  };
  Json result = {{"run", base.name},
                 {"seed", kNoiseSeed},
                 {"rows", std::ssize(judged)},
                 {"keys", tuned.chosen().KeysName()},
                 {"answer", MethodName(memory.description().answer)}};
  RESMEM_ASSIGN_OR_RETURN(result["clean"], judge(base.test));
  RESMEM_ASSIGN_OR_RETURN(result["corruptions"], ForEveryCorruption(workspace, model, judge));
  return result;
}

Result<Json> JudgeBlendShift(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, context.base));
  std::vector<int64_t> all(static_cast<size_t>(base.test.count()));
  std::iota(all.begin(), all.end(), 0);
  return JudgeShiftedAnswers(workspace, base, base.train.Take(base.split.train),
                             base.train.Take(base.split.validation), all);
}

}  // namespace resmem::cli::reproduce::cifar100
