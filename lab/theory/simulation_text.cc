#include <cmath>
#include <string>
#include <vector>

#include "resmem_program/readable.h"
#include "support/text.h"
#include "theory/simulation.h"

namespace resmem {
namespace {

// At small n a few draws carry most of the risk, and fewer than this rarely include them.
constexpr int64_t kDrawsForSoundErrors = 100;

// Three digits are as many as the draws support.
std::string Number(double value) {
  return readable::ShortNumber(value, 3);
}

std::string WithError(const Estimate& value) {
  if (value.mean < 1e-24) return "0";  // rounding: the square of an error below 1e-12
  return Number(value.mean) + " ±" + readable::ShortNumber(value.error, 1);
}

std::string WithError(const std::optional<Slope>& slope) {
  if (!slope) return "-";
  return readable::Fixed(slope->value, 3) + " ±" + readable::Fixed(slope->error, 3);
}

bool IsPaper(const SimulationSetting& setting) {
  return setting == SimulationSetting();
}

// The curves whose every number is shown: the paper's, or all where the run has none of those.
std::vector<SimulationCurve> CurvesInFull(const SimulationResult& result, bool all) {
  std::vector<SimulationCurve> curves;
  for (const SimulationCurve& curve : result.curves) {
    if (all || IsPaper(curve.setting)) curves.push_back(curve);
  }
  return curves.empty() ? result.curves : curves;
}

std::string Neighbor(const SimulationSetting& setting) {
  return Text(setting.k, "-NN");
}

std::string CurveTable(const SimulationCurve& curve) {
  const bool noise = curve.setting.noise > 0;
  std::vector<std::string> header = {"n", "base", Neighbor(curve.setting), "ResMem", "T1", "T2"};
  if (noise) header.push_back("noise part");
  header.push_back(noise ? "4(T1+T2+noise)" : "3(T1+T2)");
  header.push_back("E Z_n");
  header.push_back("its bound");
  readable::Table table = readable::Table::OfNumbers(header);
  for (const SimulationPoint& point : curve.points) {
    std::vector<std::string> cells = {std::to_string(point.n), WithError(point.base),
                                      WithError(point.knn),    WithError(point.resmem),
                                      WithError(point.t1),     WithError(point.t2)};
    if (noise) cells.push_back(WithError(point.noise_part));
    cells.push_back(WithError(point.decomposition));
    cells.push_back(WithError(point.z));
    cells.push_back(Number(point.z_bound));
    table.AddRow(cells);
  }
  return Text("### ", SimulationSettingName(curve.setting), ": d = ", curve.dimension,
              ", L = ", curve.bound, "\n\nThe base's risk tends to ",
              readable::ShortNumber(curve.plateau), IsPaper(curve.setting) ? " = (1-L)^2" : "",
              ".\n\n", table.Markdown(), "\n");
}

std::string SlopeTable(const std::vector<SimulationCurve>& curves) {
  readable::Table table = readable::Table::OfNumbers(
      {"setting", "d", "L", "k-NN", "ResMem", "T1", "proved T1", "T2", "E Z_n", "proved T2, Z_n"});
  for (const SimulationCurve& curve : curves) {
    const SimulationSlopes& slopes = curve.slopes;
    table.AddRow({SimulationSettingName(curve.setting), std::to_string(curve.dimension),
                  Number(curve.bound), WithError(slopes.knn), WithError(slopes.resmem),
                  WithError(slopes.t1), readable::Fixed(slopes.proved_t1, 3), WithError(slopes.t2),
                  WithError(slopes.z), readable::Fixed(slopes.proved_t2, 3)});
  }
  return table.Markdown();
}

// What became of ResMem against `rival`, in words.
std::string Verdict(const Crossover& crossover, const char* rival) {
  if (!crossover.decided) return "a tie";
  const std::string winner = crossover.resmem_wins ? "ResMem" : rival;
  if (crossover.from_start) return winner + ", every n";
  return Text(winner, ", n > ", std::llround(crossover.from));
}

std::string CrossoverTable(const SimulationResult& result) {
  readable::Table table = readable::Table::OfNumbers({"setting", "d", "L", "residuals or labels?",
                                                      "ResMem or base alone?", "base", "k-NN",
                                                      "ResMem", "ResMem / k-NN", "its limit"});
  for (const SimulationCurve& curve : result.curves) {
    const SimulationPoint& last = curve.points.back();
    table.AddRow({SimulationSettingName(curve.setting), std::to_string(curve.dimension),
                  Number(curve.bound), Verdict(curve.against_labels, "labels"),
                  Verdict(curve.against_base, "base"), WithError(last.base), WithError(last.knn),
                  WithError(last.resmem), Number(last.resmem.mean / last.knn.mean),
                  Number(curve.ratio_limit)});
  }
  return table.Markdown();
}

}  // namespace

std::string SimulationText(const SimulationResult& result, bool all) {
  const SimulationOptions& options = result.options;
  const auto draws =
      static_cast<int64_t>(result.curves.size() * options.samples.size()) * options.draws;
  std::string text =
      Text("## Risk against n\n\nMean ± standard error over ", options.draws, " draws of ",
           options.tests, " test points each, seed ", options.seed, ".\n",
           "ResMem's risk exceeded its decomposition in ", result.violations, " of ", draws,
           " cases (0: the paper's inequality held in every draw).\n",
           "Largest relative residual of the base's optimality conditions: ",
           readable::Scientific(result.kkt_residual), ".\n",
           options.draws < kDrawsForSoundErrors
               ? "With so few draws the errors at small n are too narrow (docs/theory.md); --draws "
                 "1000 costs little there.\n\n"
               : "\n");
  const std::vector<SimulationCurve> in_full = CurvesInFull(result, all);
  for (const SimulationCurve& curve : in_full) text += CurveTable(curve);
  text += Text("## Slopes of log(risk) against log(n), from n = ", result.fit_from,
               " on\n\nProved rates are upper bounds: a measured slope below them is a faster "
               "decay.\n\n",
               SlopeTable(in_full), "\n");
  text += Text("## Who wins\n\nThe winner at n = ", options.samples.back(),
               " and from which n on it was ahead; risks at that largest n. A tie: no more than "
               "two standard errors apart.\n\n",
               CrossoverTable(result));
  return text;
}

}  // namespace resmem
