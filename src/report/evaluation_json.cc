#include "report/document.h"

namespace resmem {
namespace {

Json ToJson(const Accuracy& accuracy) {
  return {{"correct", accuracy.correct},
          {"total", accuracy.total},
          {"value", Number(accuracy.value)},
          {"low", Number(accuracy.interval.low)},
          {"high", Number(accuracy.interval.high)}};
}

Json ToJson(const Metrics& metrics) {
  Json json = {{"brier", Number(metrics.brier)},
               {"ece", Number(metrics.ece)},
               {"ece_low", Number(metrics.ece_interval.low)},
               {"ece_high", Number(metrics.ece_interval.high)},
               {"top5", Number(metrics.top5)},
               {"macro_f1", Number(metrics.macro_f1)},
               {"balanced_accuracy", Number(metrics.balanced_accuracy)}};
  if (metrics.auc) json["auc"] = Number(*metrics.auc);
  return json;
}

Json ToJson(const MethodPair& pair) {
  Json json = {{"left", pair.left}, {"right", pair.right}, {"gain", resmem::ToJson(pair.gain)}};
  if (pair.nll) {
    json["nll_gain"] = Number(pair.nll->value);
    json["nll_low"] = Number(pair.nll->interval.low);
    json["nll_high"] = Number(pair.nll->interval.high);
  }
  return json;
}

Json ToJson(const MethodResult& result) {
  Json json = {{"method", ResultName(result.method, result.refit)}};
  if (result.method == Method::kKnnLm) json["lambda"] = Number(result.lambda);
  if (result.method == Method::kKnn || result.method == Method::kKnnLm) {
    json["k"] = result.parameters.k;
    json["sigma"] = Number(result.parameters.sigma);
    json["own"] = result.own;
  }
  if (result.refit == Refit::kTemperature) {
    json["temperature"] = Number(result.parameters.temperature);
  }
  json["accuracy"] = ToJson(result.accuracy);
  json["against_base"] = resmem::ToJson(result.against_base);
  if (result.nll.has_value()) {
    json["nll"] = Number(*result.nll);
    json["floored"] = result.floored;
  }
  if (result.metrics) json["metrics"] = ToJson(*result.metrics);
  return json;
}

Json ToJson(const Calibration& calibration) {
  Json bins = Json::array();
  for (const Calibration::Bin& bin : calibration.bins) {
    bins.push_back({{"count", bin.count},
                    {"confidence", Number(bin.confidence)},
                    {"accuracy", Number(bin.accuracy)}});
  }
  return {{"nll", Number(calibration.nll)},
          {"brier", Number(calibration.brier)},
          {"ece", Number(calibration.ece)},
          {"floored", calibration.floored},
          {"bins", std::move(bins)}};
}

Json ToJson(const std::vector<GroupResult>& groups) {
  Json list = Json::array();
  for (const GroupResult& group : groups) {
    list.push_back({{"name", group.name},
                    {"total", group.total},
                    {"base_correct", group.base_correct},
                    {"resmem_correct", group.resmem_correct},
                    {"fixed", group.fixed},
                    {"harmed", group.harmed}});
  }
  return list;
}

Json ToJson(const std::vector<Confusion>& confusions) {
  Json list = Json::array();
  for (const Confusion& confusion : confusions) {
    list.push_back({{"label", confusion.label},
                    {"answer", confusion.answer},
                    {"base", confusion.base},
                    {"resmem", confusion.resmem}});
  }
  return list;
}

Json ToJson(const CoarseAnalysis& coarse) {
  return {{"base_errors", coarse.base_errors},
          {"base_errors_same_coarse", coarse.base_errors_same_coarse},
          {"fixed", coarse.fixed},
          {"fixed_same_coarse", coarse.fixed_same_coarse}};
}

Json ToJson(const std::vector<RowResult>& rows) {
  Json list = Json::array();
  for (const RowResult& row : rows) {
    list.push_back({{"row", row.row},
                    {"label", row.label},
                    {"base", row.base},
                    {"resmem", row.resmem},
                    {"base_probability", Number(row.base_probability)},
                    {"resmem_probability", Number(row.resmem_probability)}});
  }
  return list;
}

Json ToJson(const std::vector<IntervalJudgment>& intervals) {
  Json list = Json::array();
  for (const IntervalJudgment& judgment : intervals) {
    list.push_back({{"share", Number(judgment.share)},
                    {"values", judgment.values},
                    {"covered", judgment.covered},
                    {"width", Number(judgment.width)},
                    {"pinball", Number(judgment.pinball)},
                    {"base_covered", judgment.base_covered},
                    {"base_width", Number(judgment.base_width)},
                    {"base_pinball", Number(judgment.base_pinball)}});
  }
  return list;
}

Json NumberList(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(Number(value));
  return list;
}

Json ToJson(const Evaluation::Regression& regression) {
  return {{"base_mse", Number(regression.base_mse)},
          {"knn_mse", Number(regression.knn_mse)},
          {"resmem_mse", Number(regression.resmem_mse)},
          {"base_mae", Number(regression.base_mae)},
          {"knn_mae", Number(regression.knn_mae)},
          {"resmem_mae", Number(regression.resmem_mae)},
          {"base_r2", Number(regression.base_r2)},
          {"knn_r2", Number(regression.knn_r2)},
          {"resmem_r2", Number(regression.resmem_r2)},
          {"mse_reduction", Number(regression.mse_reduction)},
          {"low", Number(regression.interval.low)},
          {"high", Number(regression.interval.high)},
          {"base_errors", NumberList(regression.base_errors)},
          {"resmem_errors", NumberList(regression.resmem_errors)},
          {"intervals", ToJson(regression.intervals)}};
}

}  // namespace

std::string EvaluationJson(const Evaluation& evaluation, const RunInfo& run) {
  Json document = StartDocument("evaluation", run);
  const bool classification = evaluation.task == Task::kClassification;
  document["task"] = classification ? "classification" : "regression";
  document["rows"] = evaluation.rows;
  document["method"] = MethodName(evaluation.method);
  document["parameters"] = resmem::ToJson(evaluation.parameters);
  document["leave_one_out"] = evaluation.leave_one_out;
  document["warnings"] = evaluation.warnings;
  if (classification) {
    Json methods = Json::array();
    for (const MethodResult& method : evaluation.methods) methods.push_back(ToJson(method));
    document["methods"] = std::move(methods);
    document["gain"] = resmem::ToJson(evaluation.gain);
    Json pairs = Json::array();
    for (const MethodPair& pair : evaluation.pairs) pairs.push_back(ToJson(pair));
    document["pairs"] = std::move(pairs);
    document["better_rivals"] = evaluation.better_rivals;
    document["calibration"] = {{"calibrator", evaluation.calibrator},
                               {"temperature", Number(evaluation.calibrator_temperature)},
                               {"base", ToJson(evaluation.base_calibration)},
                               {"resmem", ToJson(evaluation.resmem_calibration)}};
    document["classes"] = ToJson(evaluation.classes);
    document["slices"] = ToJson(evaluation.slices);
    document["confusions"] = ToJson(evaluation.confusions);
    if (evaluation.coarse) document["coarse"] = ToJson(*evaluation.coarse);
    document["row_results"] = ToJson(evaluation.row_results);
    document["mean_residual_mass"] = Number(evaluation.mean_residual_mass);
  } else if (evaluation.regression) {
    document["regression"] = ToJson(*evaluation.regression);
  }
  document["rows_at_distance_zero"] = evaluation.rows_at_distance_zero;
  document["search_seconds"] = Number(evaluation.search_seconds);
  document["score_seconds"] = Number(evaluation.score_seconds);
  return WriteDocument(document);
}

}  // namespace resmem
