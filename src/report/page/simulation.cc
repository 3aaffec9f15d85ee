#include <string>
#include <vector>

#include "report/chart/line_chart.h"
#include "report/numbers.h"
#include "report/page/page.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

constexpr size_t kMostPointsOfAll = 100000;  // of the whole document

struct RiskCurve {
  const char* field;
  const char* name;
};
// ResMem first: it has the first color in every chart.
constexpr RiskCurve kRisks[] = {{"resmem", "ResMem"}, {"knn", "k-NN on labels"}, {"base", "base"}};

std::string Place(const Node& curve) {
  return "d = " + Short(curve.At("dimension").Number()) +
         ", L = " + Short(curve.At("bound").Number());
}

// "0.25 ± 0.002", of a value with its standard error.
Html WithError(const Node& value, const char* name = "mean") {
  return Html() << ShortData(value.At(name)) << " \u00b1 " << ShortData(value.At("error"));
}

Html SlopeCell(const Node& slopes, std::string_view name) {
  const std::optional<Node> slope = slopes.Find(name);
  if (!slope) return Html() << "\u2013";
  return Html() << Data(slope->At("value"), Fixed(slope->At("value").Number(), 3)) << " \u00b1 "
                << Data(slope->At("error"), Fixed(slope->At("error").Number(), 3));
}

Html RiskFigure(const Node& curve) {
  Figure figure;
  figure.title = Place(curve);
  figure.x = {"n, examples", true, false};
  figure.y = {"risk", true, false};
  for (const RiskCurve& risk : kRisks) figure.curves.push_back({risk.name, false, {}});
  Curve plateau{"what the base tends to", true, {}};
  Curve proved{"proved rate (constant 1)", true, {}};
  Html rows;
  for (const Node& point : curve.At("points").Items()) {
    const double n = point.At("n").Number();
    for (size_t i = 0; i < std::size(kRisks); ++i) {
      const Node risk = point.At(kRisks[i].field);
      const double mean = risk.At("mean").Number(), error = risk.At("error").Number();
      figure.curves[i].points.push_back({n, mean, Interval{mean - 2 * error, mean + 2 * error}});
    }
    plateau.points.push_back({n, curve.At("plateau").Number(), {}});
    proved.points.push_back({n, point.At("theorem_bound").Number(), {}});
    rows << TableRow(CountData(point.At("n")), WithError(point.At("base")),
                     WithError(point.At("knn")), WithError(point.At("resmem")),
                     WithError(point.At("t1")), WithError(point.At("t2")),
                     WithError(point.At("decomposition")), WithError(point.At("z")),
                     ShortData(point.At("z_bound")));
  }
  figure.curves.push_back(std::move(plateau));
  if (curve.At("name").Text() == "paper") figure.curves.push_back(std::move(proved));
  return ChartFigure(figure.title, "",
                     DrawLineChart(figure)
                         << Details("These values as a table",
                                    Table(figure.title,
                                          Heading({"n", "Base", "k-NN", "ResMem", "T1", "T2",
                                                   "Decomposition", "E Z_n", "Bound of E Z_n"}),
                                          rows)));
}

Html Verdict(const Node& crossover, const char* rival) {
  if (!crossover.At("decided").Flag()) return Html() << "a tie";
  const char* winner = crossover.At("resmem_wins").Flag() ? "ResMem" : rival;
  if (crossover.At("from_start").Flag()) return Html() << winner << ", every n";
  return Html() << winner << ", n > "
                << Data(crossover.At("from"), Short(crossover.At("from").Number()));
}

Html SlopeTable(const std::vector<Node>& curves) {
  Html rows;
  for (const Node& curve : curves) {
    const Node slopes = curve.At("slopes");
    rows << TableRow(Html() << Name(curve.At("name").Text()) << ": " << Place(curve),
                     SlopeCell(slopes, "knn"), SlopeCell(slopes, "resmem"), SlopeCell(slopes, "t1"),
                     ShortData(slopes.At("proved_t1")), SlopeCell(slopes, "t2"),
                     SlopeCell(slopes, "z"), ShortData(slopes.At("proved_t2")));
  }
  return Table("Slopes",
               Heading({"Setting", "k-NN", "ResMem", "T1", "T1, proved", "T2", "E Z_n",
                        "T2 and E Z_n, proved"}),
               rows);
}

Html WinnerTable(const std::vector<Node>& curves) {
  Html rows;
  for (const Node& curve : curves) {
    rows << TableRow(Html() << Name(curve.At("name").Text()) << ": " << Place(curve),
                     Verdict(curve.At("against_labels"), "labels"),
                     Verdict(curve.At("against_base"), "base"), ShortData(curve.At("ratio_limit")));
  }
  return Table("Who wins",
               Heading({"Setting", "Residuals or labels?", "ResMem or base alone?",
                        "Limit of ResMem / k-NN"}),
               rows);
}

Html SimulationHeadline(const Node& document) {
  Html text;
  text << "ResMem's risk exceeded its decomposition into the paper's parts in "
       << CountData(document.At("violations")) << " draws. Each point is the mean over "
       << CountData(document.At("draws")) << " draws of " << CountData(document.At("tests"))
       << " test points; bands are two standard errors.";
  return Element("p", {{"class", "lede"}}, text);
}

}  // namespace

void AddSimulation(const Node& document, Page* page) {
  if (page->title.empty()) page->title = "Risk against n: base, k-NN and ResMem";
  if (page->headline.empty()) page->headline = SimulationHeadline(document);
  const std::vector<Node> curves = document.At("curves").Items();
  size_t points = 0;
  for (const Node& curve : curves) points += curve.At("points").Items().size();
  if (points > kMostPointsOfAll) {
    document.At("curves").Fail("curves of at most 100,000 points together");
    return;
  }
  // A section for each setting; its curves stand together in the document.
  for (size_t begin = 0; begin < curves.size();) {
    const std::string name = curves[begin].At("name").Text();
    Html figures;
    size_t end = begin;
    for (; end < curves.size() && curves[end].At("name").Text() == name; ++end) {
      figures << RiskFigure(curves[end]);
    }
    page->sections.push_back({"Setting: " + name, Element("div", {{"class", "grid-3"}}, figures)});
    begin = end;
  }
  page->sections.push_back(
      {"Slopes of log(risk) against log(n)",
       Html() << Element(
                     "p", {}, "Fitted from n = ", CountData(document.At("fit_from")),
                     " on. Proved rates are upper bounds: a slope below them is a faster decay.")
              << SlopeTable(curves)});
  page->sections.push_back({"Who wins", WinnerTable(curves)});
}

}  // namespace resmem
