#ifndef RESMEM_REPORT_CHART_LINE_CHART_H_
#define RESMEM_REPORT_CHART_LINE_CHART_H_

#include <optional>
#include <string_view>

#include "report/html.h"
#include "resmem/report/report.h"

namespace resmem {

// The curves with their legend.  `mark`: a point to be ringed and named, such as the choice.
// Curves are told apart by color, dash and marker, so that none of them is needed alone.
Html DrawLineChart(const Figure& figure, const std::optional<CurvePoint>& mark = std::nullopt,
                   std::string_view mark_name = "");

}  // namespace resmem

#endif  // RESMEM_REPORT_CHART_LINE_CHART_H_
