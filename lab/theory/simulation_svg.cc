#include <string>
#include <vector>

#include "resmem/report/report.h"
#include "support/text.h"
#include "theory/simulation.h"

namespace resmem {
namespace {

std::vector<Curve> RiskCurves(const SimulationCurve& risks) {
  const bool noise = risks.setting.noise > 0;
  Curve base{"base", false, {}}, knn{"k-NN on labels", false, {}}, resmem{"ResMem", false, {}};
  Curve parts{noise ? "4(T1+T2+noise)" : "3(T1+T2)", false, {}};
  Curve limit{"limit of the base", true, {}}, proved{"proved rate (constant 1)", true, {}};
  for (const SimulationPoint& point : risks.points) {
    const auto n = static_cast<double>(point.n);
    const auto add = [&](const Estimate& value, Curve* curve) {
      curve->points.push_back(
          {n, value.mean, Interval{value.mean - 2 * value.error, value.mean + 2 * value.error}});
    };
    add(point.base, &base);
    add(point.knn, &knn);
    add(point.resmem, &resmem);
    add(point.decomposition, &parts);
    limit.points.push_back({n, risks.plateau, {}});
    proved.points.push_back({n, point.theorem_bound, {}});
  }
  // ResMem first: it has the first color in every chart.
  std::vector<Curve> curves = {resmem, knn, base, parts, limit};
  // The proved rate belongs to the paper's setting alone.
  if (risks.setting == SimulationSetting()) curves.push_back(proved);
  return curves;
}

}  // namespace

std::string SimulationSvg(const SimulationResult& result, size_t setting_number) {
  const SimulationOptions& options = result.options;
  const size_t columns = options.dimensions.size(), rows = options.bounds.size();
  std::vector<Figure> panels;
  for (size_t b = 0; b < rows; ++b) {
    for (size_t d = 0; d < columns; ++d) {
      const SimulationCurve& curve = result.curves[(setting_number * columns + d) * rows + b];
      panels.push_back({Text("d = ", curve.dimension, ", L = ", curve.bound),
                        "",
                        {"n", true, false},
                        {"risk", true, false},
                        RiskCurves(curve)});
    }
  }
  return FigureGridSvg(
      Text("Risk against n (", SimulationSettingName(options.settings[setting_number]),
           "): mean over ", options.draws, " draws, bands of two standard errors"),
      panels, columns);
}

}  // namespace resmem
