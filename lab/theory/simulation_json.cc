#include "theory/simulation_json.h"
#include "report/document.h"

namespace resmem {
namespace {

Json ToJson(const Estimate& value) {
  return {{"mean", Number(value.mean)}, {"error", Number(value.error)}};
}

Json ToJson(const std::optional<Slope>& slope) {
  if (!slope) return nullptr;
  return {{"value", Number(slope->value)}, {"error", Number(slope->error)}};
}

Json ToJson(const Crossover& crossover) {
  return {{"decided", crossover.decided},
          {"resmem_wins", crossover.resmem_wins},
          {"from_start", crossover.from_start},
          {"from", Number(crossover.from)}};
}

Json ToJson(const SimulationPoint& point) {
  return {{"n", point.n},
          {"base", ToJson(point.base)},
          {"knn", ToJson(point.knn)},
          {"resmem", ToJson(point.resmem)},
          {"t1", ToJson(point.t1)},
          {"t2", ToJson(point.t2)},
          {"noise_part", ToJson(point.noise_part)},
          {"decomposition", ToJson(point.decomposition)},
          {"z", ToJson(point.z)},
          {"z_bound", Number(point.z_bound)},
          {"theorem_bound", Number(point.theorem_bound)},
          {"knn_minus_resmem", ToJson(point.knn_minus_resmem)},
          {"base_minus_resmem", ToJson(point.base_minus_resmem)},
          {"violations", point.violations},
          {"interior_draws", point.interior_draws},
          {"kkt_residual", Number(point.kkt_residual)}};
}

Json ToJson(const SimulationCurve& curve) {
  const SimulationSlopes& slopes = curve.slopes;
  Json points = Json::array();
  for (const SimulationPoint& point : curve.points) points.push_back(ToJson(point));
  return {{"name", SimulationSettingName(curve.setting)},
          {"k", curve.setting.k},
          {"sigma", Number(curve.setting.sigma)},
          {"noise", Number(curve.setting.noise)},
          {"target", SimulationTargetName(curve.setting.target)},
          {"dimension", curve.dimension},
          {"bound", Number(curve.bound)},
          {"plateau", Number(curve.plateau)},
          {"ratio_limit", Number(curve.ratio_limit)},
          {"slopes",
           {{"knn", ToJson(slopes.knn)},
            {"resmem", ToJson(slopes.resmem)},
            {"t1", ToJson(slopes.t1)},
            {"t2", ToJson(slopes.t2)},
            {"z", ToJson(slopes.z)},
            {"proved_t1", Number(slopes.proved_t1)},
            {"proved_t2", Number(slopes.proved_t2)}}},
          {"against_labels", ToJson(curve.against_labels)},
          {"against_base", ToJson(curve.against_base)},
          {"points", std::move(points)}};
}

}  // namespace

std::string SimulationJson(const SimulationResult& result, const RunInfo& run) {
  Json document = StartDocument("simulation", run);
  document["draws"] = result.options.draws;
  document["tests"] = result.options.tests;
  document["seed"] = result.options.seed;
  document["fit_from"] = result.fit_from;
  document["violations"] = result.violations;
  document["kkt_residual"] = Number(result.kkt_residual);
  document["seconds"] = Number(result.seconds);
  Json curves = Json::array();
  for (const SimulationCurve& curve : result.curves) curves.push_back(ToJson(curve));
  document["curves"] = std::move(curves);
  return WriteDocument(document);
}

}  // namespace resmem
