#include "report/document.h"

namespace resmem {
namespace {

// One list a measure, in the order of the grid.
Json PointsJson(const std::vector<TuningPoint>& points, bool classification) {
  Json json = Json::object();
  for (const TuningPoint& point : points) {
    if (classification) {
      json["fixed"].push_back(point.fixed);
      json["harmed"].push_back(point.harmed);
    } else {
      json["loss"].push_back(Number(point.loss));
    }
  }
  return json;
}

Json ToJson(const Blend& blend) {
  Json coefficients = Json::array();
  for (const auto& part : blend.coefficients) {
    coefficients.push_back(Numbers(std::span<const float>(part)));
  }
  return {{"parameters", resmem::ToJson(blend.parameters)},
          {"prior", Number(blend.prior)},
          {"base_temperature", Number(blend.base_temperature)},
          {"coefficients", std::move(coefficients)},
          {"gate_means", Numbers(std::span<const float>(blend.gate_means))},
          {"gate_deviations", Numbers(std::span<const float>(blend.gate_deviations))},
          {"distances", Numbers(std::span<const float>(blend.distances))},
          {"spreads", Numbers(std::span<const float>(blend.spreads))}};
}

Json ToJson(const BlendTuning& tuning, bool classification) {
  Json json = {{"method", MethodName(tuning.method)},
               {"adopted", tuning.adopted},
               {"reason", tuning.reason},
               {"rows", tuning.rows}};
  if (!tuning.blend) return json;
  json["fitted"] = ToJson(*tuning.blend);
  json["folds"] = tuning.folds;
  json["points"] = tuning.points;
  json["slopes"] = tuning.slopes;
  json["ridge"] = Number(tuning.ridge);
  json["base_nll"] = Number(tuning.base_nll);
  json["scaled_nll"] = Number(tuning.scaled_nll);
  json["nll"] = Number(tuning.nll);
  json["nll_gain"] = Number(tuning.nll_gain);
  json["low"] = Number(tuning.nll_interval.low);
  json["high"] = Number(tuning.nll_interval.high);
  if (classification) json["gain"] = resmem::ToJson(tuning.gain);
  json["seconds"] = Number(tuning.seconds);
  return json;
}

Json ToJson(const KeyTuning& keys) {
  Json json = {{"former", KeyTransformName(keys.former)},
               {"chosen", KeyTransformName(keys.chosen)},
               {"reason", keys.reason}};
  if (keys.trials.empty()) return json;
  json["gain"] = Number(keys.gain);
  json["low"] = Number(keys.interval.low);
  json["high"] = Number(keys.interval.high);
  for (const KeyTuning::Trial& trial : keys.trials) {
    Json line = {{"transform", KeyTransformName(trial.transform)}};
    if (trial.reason.empty()) {
      line["nll"] = Number(trial.nll);
    } else {
      line["reason"] = trial.reason;
    }
    json["trials"].push_back(std::move(line));
  }
  return json;
}

Json ToJson(const RivalTuning& rival) {
  Json json = {{"method", ResultName(rival.method, rival.refit)}};
  if (rival.refit == Refit::kNone) {
    json["k"] = rival.parameters.k;
    json["sigma"] = Number(rival.parameters.sigma);
    json["lambda"] = Number(rival.lambda);
  } else if (rival.refit == Refit::kTemperature) {
    json["temperature"] = Number(rival.parameters.temperature);
  } else {
    json["ridge"] = Number(rival.ridge);
  }
  json["nll"] = Number(rival.nll);
  json["gain"] = resmem::ToJson(rival.gain);
  return json;
}

}  // namespace

std::string TuningJson(const Tuning& tuning, const RunInfo& run) {
  Json document = StartDocument("tuning", run);
  const bool classification = tuning.task == Task::kClassification;
  document["task"] = classification ? "classification" : "regression";
  document["rows"] = tuning.rows;
  document["objective"] = ObjectiveName(tuning.objective);
  document["fpr_limit"] = Number(tuning.fpr_limit);
  document["warnings"] = tuning.warnings;
  document["grid"] = {{"k", tuning.grid.k},
                      {"sigma", Numbers(tuning.grid.sigma)},
                      {"temperature", Numbers(tuning.grid.temperature)}};
  document["chosen"] = ToJson(tuning.chosen);
  if (classification) {
    document["chosen_gain"] = ToJson(tuning.chosen_gain);
    if (tuning.cross_validated_gain) {
      document["cross_validated_gain"] = ToJson(*tuning.cross_validated_gain);
    }
    document["calibrator"] = tuning.calibrator;
    document["calibrator_temperature"] = Number(tuning.calibrator_temperature);
    document["calibrated_nll"] = Number(tuning.calibrated_nll);
    Json rivals = Json::array();
    for (const RivalTuning& rival : tuning.rival_tunings) rivals.push_back(ToJson(rival));
    document["rivals"] = std::move(rivals);
    document["rival_seconds"] = Number(tuning.rival_seconds);
  } else {
    document["base_loss"] = Number(tuning.base_loss);
    document["chosen_loss"] = Number(tuning.chosen_loss);
    if (tuning.cross_validated_loss) {
      document["cross_validated_loss"] = Number(*tuning.cross_validated_loss);
    }
  }
  document["resmem_reason"] = tuning.resmem_reason;
  if (tuning.answer) document["answer"] = MethodName(*tuning.answer);
  document["keys"] = ToJson(tuning.keys);
  if (tuning.blend) document["blend"] = ToJson(*tuning.blend, classification);
  document["points"] = PointsJson(tuning.points, classification);
  document["search_seconds"] = Number(tuning.search_seconds);
  document["grid_seconds"] = Number(tuning.grid_seconds);
  return WriteDocument(document);
}

}  // namespace resmem
