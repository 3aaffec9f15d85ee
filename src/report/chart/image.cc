// Figures as SVG images that stand alone, legend and colors inside.
#include <algorithm>
#include <string>
#include <vector>

#include "report/chart/plot.h"
#include "report/chart/svg.h"
#include "resmem/report/report.h"

namespace resmem {
namespace {

constexpr double kMargin = 12, kLine = 17;

// Of an image that stands alone: the page's light colors, without variables, which some viewers
// of SVG do not know.
constexpr char kImageStyle[] = R"(<style>
text { font-family: "Segoe UI", "Noto Sans", "DejaVu Sans", Arial, sans-serif; fill: #1b2027; }
.paper { fill: #fdfdfc; }
.panel { font-size: 13px; font-weight: 600; }
.title { font-size: 15px; font-weight: 600; }
.legend { font-size: 12.5px; }
.quiet, .tick, .axis-label { fill: #59636e; }
.tick { font-size: 10.5px; }
.axis-label { font-size: 11px; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.grid { stroke: #dfe3e7; }
.axis { stroke: #59636e; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.band { fill-opacity: .13; }
.marker { fill: #fdfdfc; stroke-width: 1.6; }
.c1 .line, .c1 .marker { stroke: #0b6cb3; } .c1 .band { fill: #0b6cb3; }
.c2 .line, .c2 .marker { stroke: #c4500f; } .c2 .band { fill: #c4500f; }
.c3 .line, .c3 .marker { stroke: #00805c; } .c3 .band { fill: #00805c; }
.c4 .line, .c4 .marker { stroke: #9a4f86; } .c4 .band { fill: #9a4f86; }
.c5 .line, .c5 .marker { stroke: #7a6a00; } .c5 .band { fill: #7a6a00; }
.c6 .line, .c6 .marker { stroke: #4b5ac4; } .c6 .band { fill: #4b5ac4; }
.c2 .line { stroke-dasharray: 7 4; }
.c3 .line { stroke-dasharray: 2 4; }
.c4 .line { stroke-dasharray: 9 3 2 3; }
.c5 .line { stroke-dasharray: 4 2; }
.c6 .line { stroke-dasharray: 12 4; }
.reference .line { stroke: #76818d; stroke-width: 1.5; stroke-dasharray: 3 4; }
.second .line { stroke-dasharray: 10 5; }
</style>)";

std::string Translate(double x, double y) {
  return "translate(" + Coordinate(x) + "," + Coordinate(y) + ")";
}

// From (kMargin, *y) on; moves *y below it.
Html ImageLegend(const Figure& figure, double width, double* y) {
  constexpr double kSwatch = 30, kLetter = 7.3;  // of the legend's font, on average
  const std::vector<size_t> styles = CurveStyles(figure);
  Html legend;
  double x = kMargin;
  for (size_t i = 0; i < figure.curves.size(); ++i) {
    const Curve& curve = figure.curves[i];
    const double needed = kSwatch + kLetter * static_cast<double>(curve.name.size()) + 14;
    if (x > kMargin && x + needed > width - kMargin) {
      x = kMargin;
      *y += kLine;
    }
    legend << Element("g", {{"transform", Translate(x, *y - 10)}}, Swatch(curve, styles[i]))
           << SvgText(x + kSwatch, *y, "legend", curve.name);
    x += needed;
  }
  *y += kLine + 4;
  return legend;
}

}  // namespace

std::string FigureGridSvg(std::string_view title, std::span<const Figure> figures, size_t columns) {
  columns = std::clamp<size_t>(columns, 1, std::max<size_t>(1, figures.size()));
  const bool single = figures.size() <= 1;
  const double scale = single ? 1.3 : 1;
  const double panel_title = single ? 0 : kLine + 5;
  const double panel_width = kPlotWidth * scale, panel_height = kPlotHeight * scale + panel_title;
  const double width = panel_width * static_cast<double>(columns) + 2 * kMargin;
  double y = kMargin + 12;
  Html body = SvgText(kMargin, y, "title", title);
  y += kLine + 4;
  if (!figures.empty()) {
    body << ImageLegend(figures.front(), width, &y)
         << SvgText(kMargin, y, "legend quiet", figures.front().y.label);
    y += 4;
  }
  for (size_t i = 0; i < figures.size(); ++i) {
    const double left = kMargin + panel_width * static_cast<double>(i % columns);
    const double top = y + panel_height * static_cast<double>(i / columns) + panel_title;
    PlotExtent extent;
    for (const Figure& figure : figures) extent.Include(figure);
    extent.y = Extent();
    for (size_t j = i % columns; j < figures.size(); j += columns) {
      PlotExtent of_panel;
      of_panel.Include(figures[j]);
      if (of_panel.y.empty) continue;
      extent.y.Include(of_panel.y.low);
      extent.y.Include(of_panel.y.high);
    }
    if (!single) {
      body << SvgText(left + panel_width / 2, top - 4, "panel middle", figures[i].title);
    }
    const std::string place = Translate(left, top) + " scale(" + Coordinate(scale) + ")";
    body << Element("g", {{"transform", place}}, DrawPlot(figures[i], extent));
  }
  const size_t rows = (figures.size() + columns - 1) / columns;
  const double height = y + panel_height * static_cast<double>(rows) + 4;
  return Element("svg",
                 {{"xmlns", "http://www.w3.org/2000/svg"},
                  {"viewBox", "0 0 " + Coordinate(width) + " " + Coordinate(height)},
                  {"width", Coordinate(width)},
                  {"height", Coordinate(height)},
                  {"role", "img"}},
                 Element("title", {}, title), Html::Literal(kImageStyle),
                 SvgBox(0, 0, width, height, "paper"), body)
             .markup() +
         "\n";
}

std::string FigureSvg(const Figure& figure) {
  return FigureGridSvg(figure.title, {&figure, 1}, 1);
}

}  // namespace resmem
