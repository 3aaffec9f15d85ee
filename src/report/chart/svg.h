// The few shapes that charts are drawn with; their looks are in page/style.css.
#ifndef RESMEM_REPORT_CHART_SVG_H_
#define RESMEM_REPORT_CHART_SVG_H_

#include <string>
#include <string_view>

#include "report/html.h"
#include "report/numbers.h"

namespace resmem {

inline Html SvgLine(double x1, double y1, double x2, double y2, std::string_view style) {
  return Element("line", {{"class", std::string(style)},
                          {"x1", Coordinate(x1)},
                          {"y1", Coordinate(y1)},
                          {"x2", Coordinate(x2)},
                          {"y2", Coordinate(y2)}});
}

inline Html SvgText(double x, double y, std::string_view style, std::string_view text) {
  return Element("text",
                 {{"class", std::string(style)}, {"x", Coordinate(x)}, {"y", Coordinate(y)}}, text);
}

// `opacity` of the filling, 0 .. 1.
inline Html SvgBox(double x, double y, double width, double height, std::string_view style,
                   double opacity = 1) {
  return Element("rect", {{"class", std::string(style)},
                          {"x", Coordinate(x)},
                          {"y", Coordinate(y)},
                          {"width", Coordinate(width < 0 ? 0 : width)},
                          {"height", Coordinate(height < 0 ? 0 : height)},
                          {"fill-opacity", Coordinate(opacity)}});
}

}  // namespace resmem

#endif  // RESMEM_REPORT_CHART_SVG_H_
