// A plot of curves with its axes: what the page and an image that stands alone both draw.
#ifndef RESMEM_REPORT_CHART_PLOT_H_
#define RESMEM_REPORT_CHART_PLOT_H_

#include <optional>
#include <string_view>
#include <vector>

#include "report/chart/scale.h"
#include "report/html.h"
#include "resmem/report/report.h"

namespace resmem {

inline constexpr double kPlotWidth = 340, kPlotHeight = 236;

// What the axes have to show.
struct PlotExtent {
  Extent x, y;

  void Include(const Figure& figure);
};

// Each curve's number among the styles of style.css; references are counted apart.
std::vector<size_t> CurveStyles(const Figure& figure);

// Axes, curves and mark, in a space of kPlotWidth x kPlotHeight.
Html DrawPlot(const Figure& figure, const PlotExtent& extent,
              const std::optional<CurvePoint>& mark = std::nullopt,
              std::string_view mark_name = "");

// A piece of the curve's line for a legend, 26 x 12.
Html Swatch(const Curve& curve, size_t style);

}  // namespace resmem

#endif  // RESMEM_REPORT_CHART_PLOT_H_
