#include "report/chart/line_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "report/chart/scale.h"
#include "report/chart/svg.h"
#include "report/numbers.h"

namespace resmem {
namespace {

constexpr double kWidth = 340, kHeight = 236;
constexpr double kLeft = 52, kRight = 330, kTop = 10, kBottom = 192;
constexpr size_t kStyles = 6;  // of curves in style.css
constexpr size_t kMostMarkers = 30;

// Of an image that stands alone: the page's light colors, without variables, which some viewers
// of SVG do not know.
constexpr char kPictureStyle[] = R"(<style>
text { font-family: "Segoe UI", "Noto Sans", "DejaVu Sans", Arial, sans-serif; fill: #1b2027; }
.paper { fill: #fdfdfc; }
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
</style>)";

std::string TickText(double tick, const Scale& scale, const Axis& axis, int count) {
  if (scale.logarithmic()) {
    return axis.percent ? Short(tick * 100).append("\u202f%") : Short(tick);
  }
  const double factor = axis.percent ? 100 : 1;
  const double step = RoundStep(scale.high() - scale.low(), count);
  if (std::abs(tick) >= 1e6 || (std::abs(step) < 1e-5 && step > 0)) return Short(tick * factor);
  std::string text = Fixed(tick * factor, DecimalsOf(step * factor));
  if (std::abs(tick) >= 10000) text = Grouped(std::llround(tick));
  return axis.percent ? text.append("\u202f%") : text;
}

Html Axes(const Figure& figure, const Scale& x, const Scale& y) {
  constexpr int kTicks = 5;
  Html svg;
  for (const double tick : y.Ticks(kTicks)) {
    svg << SvgLine(kLeft, y(tick), kRight, y(tick), "grid")
        << SvgText(kLeft - 6, y(tick) + 3.5, "tick end", TickText(tick, y, figure.y, kTicks));
  }
  for (const double tick : x.Ticks(kTicks)) {
    svg << SvgLine(x(tick), kBottom, x(tick), kBottom + 4, "axis")
        << SvgText(x(tick), kBottom + 17, "tick middle", TickText(tick, x, figure.x, kTicks));
  }
  svg << SvgLine(kLeft, kBottom, kRight, kBottom, "axis")
      << SvgText((kLeft + kRight) / 2, kHeight - 8, "axis-label middle", figure.x.label);
  return svg;
}

// A different outline for each style: circle, square, triangle, diamond, cross, plus.
Html Marker(size_t style, double x, double y) {
  static constexpr std::array<std::string_view, kStyles> kOutlines = {
      "m-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
      "m-2.7,-2.7h5.4v5.4h-5.4z",
      "m0,-3.6l3.4,6h-6.8z",
      "m0,-3.8l3.8,3.8l-3.8,3.8l-3.8,-3.8z",
      "m-2.6,-2.6l5.2,5.2m0,-5.2l-5.2,5.2",
      "m-3.4,0h6.8m-3.4,-3.4v6.8"};
  return Element(
      "path", {{"class", "marker"},
               {"d", "M" + Coordinate(x) + "," + Coordinate(y) + std::string(kOutlines[style])}});
}

Html DrawCurve(const Curve& curve, size_t style, const Scale& x, const Scale& y) {
  std::string line, upper, lower;
  Html markers;
  const size_t every = curve.points.size() / kMostMarkers + 1;
  for (size_t i = 0; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    if (x.logarithmic() && point.x <= 0) continue;
    const double px = x(point.x);
    // A logarithmic axis has no place for what is not positive: it leaves at the bottom.
    const auto height = [&](double value) {
      const bool below = y.logarithmic() && value <= 0;
      return std::clamp(below ? kBottom : y(value), kTop - 2, kBottom + 2);
    };
    const std::string at = Coordinate(px) + "," + Coordinate(height(point.y));
    line += (line.empty() ? "M" : "L") + at;
    if (!curve.reference && i % every == 0) markers << Marker(style, px, height(point.y));
    if (point.interval) {
      upper += (upper.empty() ? "M" : "L") + Coordinate(px) + "," +
               Coordinate(height(point.interval->high));
      lower = "L" + Coordinate(px) + "," + Coordinate(height(point.interval->low)) + lower;
    }
  }
  const std::string name = curve.reference ? "reference" : "curve c" + std::to_string(style + 1);
  Html svg = OpenTag("g", {{"class", name}});
  if (!upper.empty()) svg << Element("path", {{"class", "band"}, {"d", upper + lower + "Z"}});
  if (!line.empty()) svg << Element("path", {{"class", "line"}, {"d", line}});
  return svg << markers << CloseTag("g");
}

// A piece of the curve's line, 26 x 12.
Html Swatch(const Curve& curve, size_t style) {
  const std::string name = curve.reference ? "reference" : "curve c" + std::to_string(style + 1);
  Html swatch = Element("path", {{"class", "line"}, {"d", "M0,6L26,6"}});
  if (!curve.reference) swatch << Marker(style, 13, 6);
  return Element("g", {{"class", name}}, swatch);
}

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

std::vector<size_t> CurveStyles(const Figure& figure) {
  std::vector<size_t> styles;
  size_t next_style = 0;
  for (const Curve& curve : figure.curves) {
    styles.push_back(curve.reference ? 0 : next_style++ % kStyles);
  }
  return styles;
}

// Axes, curves and mark, in a space of kWidth x kHeight.
Html DrawPlot(const Figure& figure, const std::vector<size_t>& styles,
              const std::optional<CurvePoint>& mark, std::string_view mark_name) {
  Extent x_extent, y_extent;
  for (const Curve& curve : figure.curves) {
    for (const CurvePoint& point : curve.points) {
      if (!figure.x.logarithmic || point.x > 0) x_extent.Include(point.x);
      for (const double value : {point.y, point.interval ? point.interval->low : point.y,
                                 point.interval ? point.interval->high : point.y}) {
        if (!figure.y.logarithmic || value > 0) y_extent.Include(value);
      }
    }
  }
  const Scale x(x_extent, kLeft, kRight, figure.x.logarithmic);
  const Scale y = Scale::Round(y_extent, kBottom, kTop, figure.y.logarithmic);
  Html svg = Axes(figure, x, y);
  for (size_t i = 0; i < figure.curves.size(); ++i) {
    svg << DrawCurve(figure.curves[i], styles[i], x, y);
  }
  if (mark) {
    const double px = x(mark->x), py = y(mark->y);
    const bool at_right = px > (kLeft + kRight) / 2;
    svg << SvgLine(px, kBottom, px, py + 6, "chosen")
        << Element(
               "circle",
               {{"class", "chosen"}, {"cx", Coordinate(px)}, {"cy", Coordinate(py)}, {"r", "6"}})
        << SvgText(px + (at_right ? -6 : 6), kBottom - 6, at_right ? "note end" : "note",
                   mark_name);
  }
  return svg;
}

}  // namespace

Html DrawLineChart(const Figure& figure, const std::optional<CurvePoint>& mark,
                   std::string_view mark_name) {
  const std::vector<size_t> styles = CurveStyles(figure);
  Html svg = OpenTag("svg", {{"class", "plot"},
                             {"viewBox", "0 0 " + Coordinate(kWidth) + " " + Coordinate(kHeight)},
                             {"role", "img"},
                             {"aria-label", figure.title + ": " + figure.y.label + " against " +
                                                figure.x.label + "; the values are in the table"}});
  svg << DrawPlot(figure, styles, mark, mark_name) << CloseTag("svg");
  return Html() << Legend(figure, styles) << Element("p", {{"class", "axis-title"}}, figure.y.label)
                << svg;
}

std::string FigureSvg(const Figure& figure) {
  constexpr double kMargin = 12, kScale = 1.3, kLine = 17, kSwatch = 30;
  constexpr double kLetter = 7.3;  // of the legend's font, on average
  const std::vector<size_t> styles = CurveStyles(figure);
  const double width = kWidth * kScale + 2 * kMargin;
  double x = kMargin, y = kMargin + 12;
  Html body = SvgText(x, y, "title", figure.title);
  y += kLine + 4;
  for (size_t i = 0; i < figure.curves.size(); ++i) {
    const Curve& curve = figure.curves[i];
    const double needed = kSwatch + kLetter * static_cast<double>(curve.name.size()) + 14;
    if (x > kMargin && x + needed > width - kMargin) {
      x = kMargin;
      y += kLine;
    }
    body << Element("g",
                    {{"transform", "translate(" + Coordinate(x) + "," + Coordinate(y - 10) + ")"}},
                    Swatch(curve, styles[i]))
         << SvgText(x + kSwatch, y, "legend", curve.name);
    x += needed;
  }
  y += kLine + 4;
  body << SvgText(kMargin, y, "legend quiet", figure.y.label);
  y += 4;
  body << Element("g",
                  {{"transform", "translate(" + Coordinate(kMargin) + "," + Coordinate(y) +
                                     ") scale(" + Coordinate(kScale) + ")"}},
                  DrawPlot(figure, styles, std::nullopt, ""));
  const double height = y + kHeight * kScale + 4;
  return Element("svg",
                 {{"xmlns", "http://www.w3.org/2000/svg"},
                  {"viewBox", "0 0 " + Coordinate(width) + " " + Coordinate(height)},
                  {"width", Coordinate(width)},
                  {"height", Coordinate(height)},
                  {"role", "img"}},
                 Element("title", {}, figure.title), Html::Literal(kPictureStyle),
                 SvgBox(0, 0, width, height, "paper"), body)
             .markup() +
         "\n";
}

}  // namespace resmem
