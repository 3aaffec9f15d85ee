#include "report/chart/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "report/chart/svg.h"
#include "report/numbers.h"

namespace resmem {
namespace {

constexpr double kLeft = 52, kRight = 330, kTop = 10, kBottom = 192;
constexpr size_t kStyles = 6;  // of curves in style.css
constexpr size_t kMostMarkers = 30;

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
      << SvgText((kLeft + kRight) / 2, kPlotHeight - 8, "axis-label middle", figure.x.label);
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

std::string CurveClass(const Curve& curve, size_t style) {
  if (curve.reference) return style == 0 ? "reference" : "reference second";
  return "curve c" + std::to_string(style + 1);
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
  Html svg = OpenTag("g", {{"class", CurveClass(curve, style)}});
  if (!upper.empty()) svg << Element("path", {{"class", "band"}, {"d", upper + lower + "Z"}});
  if (!line.empty()) svg << Element("path", {{"class", "line"}, {"d", line}});
  return svg << markers << CloseTag("g");
}

}  // namespace

void PlotExtent::Include(const Figure& figure) {
  for (const Curve& curve : figure.curves) {
    for (const CurvePoint& point : curve.points) {
      if (!figure.x.logarithmic || point.x > 0) x.Include(point.x);
      for (const double value : {point.y, point.interval ? point.interval->low : point.y,
                                 point.interval ? point.interval->high : point.y}) {
        if (!figure.y.logarithmic || value > 0) y.Include(value);
      }
    }
  }
}

std::vector<size_t> CurveStyles(const Figure& figure) {
  std::vector<size_t> styles;
  size_t curves = 0, references = 0;
  for (const Curve& curve : figure.curves) {
    styles.push_back(curve.reference ? references++ : curves++ % kStyles);
  }
  return styles;
}

Html DrawPlot(const Figure& figure, const PlotExtent& extent, const std::optional<CurvePoint>& mark,
              std::string_view mark_name) {
  const std::vector<size_t> styles = CurveStyles(figure);
  const Scale x(extent.x, kLeft, kRight, figure.x.logarithmic);
  const Scale y = Scale::Round(extent.y, kBottom, kTop, figure.y.logarithmic);
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

Html Swatch(const Curve& curve, size_t style) {
  Html swatch = Element("path", {{"class", "line"}, {"d", "M0,6L26,6"}});
  if (!curve.reference) swatch << Marker(style, 13, 6);
  return Element("g", {{"class", CurveClass(curve, style)}}, swatch);
}

}  // namespace resmem
