#include "report/chart/line_chart.h"

#include <string>
#include <vector>

#include "report/chart/plot.h"
#include "report/numbers.h"

namespace resmem {
namespace {

Html Legend(const Figure& figure, const std::vector<size_t>& styles) {
  Html items;
  for (size_t i = 0; i < figure.curves.size(); ++i) {
    items << Element(
        "li", {},
        Element("svg", {{"class", "swatch"}, {"viewBox", "0 0 26 12"}, {"aria-hidden", "true"}},
                Swatch(figure.curves[i], styles[i])),
        figure.curves[i].name);
  }
  return Element("ul", {{"class", "legend"}}, items);
}

}  // namespace

Html DrawLineChart(const Figure& figure, const std::optional<CurvePoint>& mark,
                   std::string_view mark_name) {
  const std::vector<size_t> styles = CurveStyles(figure);
  PlotExtent extent;
  extent.Include(figure);
  Html svg =
      OpenTag("svg", {{"class", "plot"},
                      {"viewBox", "0 0 " + Coordinate(kPlotWidth) + " " + Coordinate(kPlotHeight)},
                      {"role", "img"},
                      {"aria-label", figure.title + ": " + figure.y.label + " against " +
                                         figure.x.label + "; the values are in the table"}});
  svg << DrawPlot(figure, extent, mark, mark_name) << CloseTag("svg");
  return Html() << Legend(figure, styles) << Element("p", {{"class", "axis-title"}}, figure.y.label)
                << svg;
}

}  // namespace resmem
