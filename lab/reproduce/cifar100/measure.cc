#include "reproduce/cifar100/measure.h"

#include <algorithm>

namespace resmem::cli::reproduce::cifar100 {

Result<Evaluation> JudgeFully(const Workspace& workspace, const ResidualMemory& memory,
                              const Rows& rows, const Parameters& parameters,
                              const JudgeOptions& options) {
  EvaluationOptions evaluation;
  evaluation.parameters = parameters;
  evaluation.baselines = options.baselines && parameters.k > 0;
  if (options.coarse) {
    evaluation.coarse_of_class = workspace.coarse_of_class();
    evaluation.coarse_of_class.resize(static_cast<size_t>(memory.description().outputs), -1);
  }
  evaluation.threads = workspace.threads();
  evaluation.progress = workspace.console().progress();
  return Evaluate(Predictor(memory), ReadRows(rows), evaluation);
}

Result<Json> Judge(const Workspace& workspace, const ResidualMemory& memory, const Rows& rows,
                   const Parameters& parameters, const JudgeOptions& options) {
  RESMEM_ASSIGN_OR_RETURN(const Evaluation evaluation,
                          JudgeFully(workspace, memory, rows, parameters, options));
  Json json = {{"parameters", ToJson(parameters)}, {"memory_rows", memory.rows()}};
  Json mixed = Json::array();
  for (const MethodResult& result : evaluation.methods) {
    switch (result.method) {
      case Method::kBase:
        json[result.refit == Refit::kNone ? "base" : ResultName(result.method, result.refit)] =
            ToJson(result.accuracy);
        break;
      case Method::kNearestClassMean:
        json["nearest_class_mean"] = ToJson(result.accuracy);
        break;
      case Method::kKnn:
        json["knn"] = ToJson(result.accuracy);
        break;
      case Method::kKnnLm:
        if (result.own) json["knn_lm_own"] = ToJson(result.accuracy);
        if (result.own) break;
        mixed.push_back({{"lambda", result.lambda}, {"accuracy", ToJson(result.accuracy)}});
        break;
      case Method::kBlend:
      case Method::kLogitBoost:
        break;
      case Method::kResMem:
        json["resmem"] = ToJson(result.accuracy);
        break;
    }
  }
  if (!mixed.empty()) json["knn_lm"] = std::move(mixed);
  json["gain"] = ToJson(evaluation.gain);
  json["mean_residual_mass"] = evaluation.mean_residual_mass;
  if (evaluation.coarse) {
    const CoarseAnalysis& coarse = *evaluation.coarse;
    const Accuracy fixed = MakeAccuracy(coarse.fixed_same_coarse, coarse.fixed);
    const Accuracy others = MakeAccuracy(coarse.base_errors_same_coarse - coarse.fixed_same_coarse,
                                         coarse.base_errors - coarse.fixed);
    json["coarse"] = {
        {"base_errors", ToJson(MakeAccuracy(coarse.base_errors_same_coarse, coarse.base_errors))},
        {"fixed", ToJson(fixed)},
        {"not_fixed", ToJson(others)},
        {"difference", fixed.value - others.value},
        {"interval", ToJson(DifferenceInterval(fixed, others))}};
  }
  return json;
}

Result<Choice> Choose(const Workspace& workspace, const ResidualMemory& memory, const Rows& rows,
                      Objective objective, const Grid& grid) {
  TuneOptions options;
  options.method = Method::kResMem;  // the paper's
  options.folds = 0;
  options.objective = objective;
  options.grid = grid;
  options.threads = workspace.threads();
  options.progress = workspace.console().progress();
  RESMEM_ASSIGN_OR_RETURN(const Tuning tuning, Tune(Predictor(memory), ReadRows(rows), options));
  // For each T the best that any k and sigma reach.
  Json by_temperature = Json::array();
  for (const float temperature : tuning.grid.temperature) {
    const TuningPoint* best = nullptr;
    for (const TuningPoint& point : tuning.points) {
      if (point.parameters.temperature != temperature) continue;
      if (best == nullptr || point.fixed - point.harmed > best->fixed - best->harmed) best = &point;
    }
    if (best == nullptr) continue;
    by_temperature.push_back(
        {{"parameters", ToJson(best->parameters)},
         {"gain", static_cast<double>(best->fixed - best->harmed) /
                      static_cast<double>(std::max<int64_t>(tuning.rows, 1))}});
  }
  return Choice{tuning.chosen,
                {{"objective", ObjectiveName(objective)},
                 {"parameters", ToJson(tuning.chosen)},
                 {"rows", tuning.rows},
                 {"points", static_cast<int64_t>(tuning.points.size())},
                 {"gain", ToJson(tuning.chosen_gain)},
                 {"by_temperature", std::move(by_temperature)}}};
}

Result<double> TypicalDistance(const Workspace& workspace, const ResidualMemory& memory,
                               const Rows& rows) {
  constexpr int64_t kTenth = 10;
  Neighbors neighbors;
  RESMEM_RETURN_IF_ERROR(Predictor(memory).FindNeighbors(
      rows.keys, std::min(kTenth, memory.rows()), {}, workspace.threads(),
      workspace.console().progress(), &neighbors));
  std::vector<float> distances;
  for (int64_t query = 0; query < neighbors.queries; ++query) {
    distances.push_back(neighbors.distances_of(query).back());
  }
  if (distances.empty()) return 0.0;
  const auto middle = distances.begin() + std::ssize(distances) / 2;
  std::nth_element(distances.begin(), middle, distances.end());
  return double{*middle};
}

std::vector<NamedParameters> ParametersFor(const Json& run_result) {
  std::vector<NamedParameters> named = {{"paper", kPaperParameters}};
  const Json& tuned = At(run_result, "tuned/gain/chosen/parameters");
  if (tuned.is_object()) named.push_back({"tuned", ParametersAt(tuned, "")});
  return named;
}

}  // namespace resmem::cli::reproduce::cifar100
