#include "theory/log_axes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "support/check.h"
#include "support/text.h"

namespace resmem {
namespace {

std::string Coordinate(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.1f", value);
  return buffer;
}

std::string Line(double x1, double y1, double x2, double y2, std::string_view style) {
  return Text("<line class=\"", style, "\" x1=\"", Coordinate(x1), "\" y1=\"", Coordinate(y1),
              "\" x2=\"", Coordinate(x2), "\" y2=\"", Coordinate(y2), "\"/>\n");
}

// 10 with the exponent raised: "10" and "-6" in a smaller, higher text.
std::string PowerOfTen(double x, double y, int exponent, std::string_view anchor) {
  return Text("<text x=\"", Coordinate(x), "\" y=\"", Coordinate(y), "\" text-anchor=\"", anchor,
              "\">10<tspan dy=\"-4\" font-size=\"8\">", exponent, "</tspan></text>\n");
}

}  // namespace

void Decades::Include(double value) {
  if (!(value > 0)) return;
  // A value that is a power of ten but for rounding needs no further decade.
  const double exponent = std::log10(value);
  const int below = static_cast<int>(std::floor(exponent + 1e-9));
  const int above = static_cast<int>(std::ceil(exponent - 1e-9));
  low = empty ? below : std::min(low, below);
  high = std::max(empty ? above : std::max(high, above), low + 1);
  empty = false;
}

double LogAxes::X(double value) const {
  return box_.left + box_.width * (std::log10(value) - x_.low) / (x_.high - x_.low);
}

double LogAxes::Y(double value) const {
  const double share = (std::log10(value) - y_.low) / (y_.high - y_.low);
  return box_.top + box_.height * (1 - std::clamp(share, 0.0, 1.0));
}

std::string LogAxes::Frame(std::string_view title) const {
  RESMEM_DCHECK(x_.high > x_.low && y_.high > y_.low);
  const double bottom = box_.top + box_.height;
  std::string svg;
  const int y_step = (y_.high - y_.low + 4) / 5;  // at most about five labels
  for (int e = y_.low; e <= y_.high; e += y_step) {
    const double y = Y(std::pow(10.0, e));
    svg += Line(box_.left, y, box_.left + box_.width, y, "grid");
    svg += PowerOfTen(box_.left - 5, y + 4, e, "end");
  }
  for (int e = x_.low; e <= x_.high; ++e) {
    const double x = X(std::pow(10.0, e));
    svg += Line(x, bottom, x, bottom + 4, "axis");
    svg += PowerOfTen(x, bottom + 17, e, "middle");
  }
  svg += Line(box_.left, bottom, box_.left + box_.width, bottom, "axis");
  svg += Line(box_.left, box_.top, box_.left, bottom, "axis");
  svg += Text("<text class=\"title\" text-anchor=\"middle\" x=\"",
              Coordinate(box_.left + box_.width / 2), "\" y=\"", Coordinate(box_.top - 7), "\">",
              title, "</text>\n");
  return svg;
}

std::string LogAxes::Curve(const std::vector<int64_t>& n, const std::vector<Estimate>& values,
                           std::string_view style) const {
  RESMEM_DCHECK(n.size() == values.size());
  std::string points, bars;
  for (size_t i = 0; i < n.size(); ++i) {
    const Estimate& value = values[i];
    if (!(value.mean > 0)) continue;
    const double x = X(static_cast<double>(n[i]));
    points += Text(points.empty() ? "" : " ", Coordinate(x), ",", Coordinate(Y(value.mean)));
    if (value.error > 0) {
      const double low = std::max(value.mean - 2 * value.error, value.mean / 10);
      bars += Line(x, Y(low), x, Y(value.mean + 2 * value.error), style);
    }
  }
  if (points.empty()) return "";
  return Text("<polyline class=\"", style, "\" points=\"", points, "\"/>\n", bars);
}

}  // namespace resmem
