#include <algorithm>
#include <string>
#include <utility>

#include "report/chart/line_chart.h"
#include "report/numbers.h"
#include "report/page/evaluation_sections.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

// Percentiles as points of "this share of the rows has an error of at most that".
Curve ErrorCurve(const char* name, const Node& percentiles) {
  Curve curve{name, false, {}};
  const std::vector<Node> values = percentiles.Items();
  if (values.size() != 101) {
    percentiles.Fail("a list of 101 numbers");
    return curve;
  }
  for (size_t percent = 0; percent < values.size(); ++percent) {
    curve.points.push_back({values[percent].Number(), static_cast<double>(percent) / 100, {}});
  }
  return curve;
}

}  // namespace

Html ErrorSection(const Node& regression) {
  const Figure figure{
      "Absolute errors",
      "The share of rows whose absolute error is at most so large. The higher curve "
      "is the better one.",
      {"absolute error", false, false},
      {"share of rows", false, true},
      {ErrorCurve("base", regression.At("base_errors")),
       ErrorCurve("with memory", regression.At("resmem_errors"))}};
  Html rows;
  for (const auto& [name, prefix] :
       {std::pair("base", std::string("base")), {"k-NN alone", "knn"}, {"with memory", "resmem"}}) {
    rows << TableRow(Name(name), ShortData(regression.At(prefix + "_mse")),
                     ShortData(regression.At(prefix + "_mae")),
                     ShortData(regression.At(prefix + "_r2")));
  }
  return ChartFigure(figure.title, figure.caption, DrawLineChart(figure))
         << Table("Errors", Heading({"Method", "Mean squared", "Mean absolute", "R\u00b2"}), rows);
}

Html IntervalSection(const Node& intervals) {
  Html rows;
  for (const Node& interval : intervals.Items()) {
    const double values = static_cast<double>(std::max<int64_t>(1, interval.At("values").Count()));
    const auto covered = [&](const char* field) {
      const Node count = interval.At(field);
      return CountData(count) << " (" << Percent(static_cast<double>(count.Count()) / values, 1)
                              << ")";
    };
    rows << TableRow(PercentData(interval.At("share")), covered("covered"),
                     ShortData(interval.At("width")), ShortData(interval.At("pinball")),
                     covered("base_covered"), ShortData(interval.At("base_width")),
                     ShortData(interval.At("base_pinball")));
  }
  return Element("p", {{"class", "lede"}},
                 "How often an interval holds the true value, and how wide it is. The rival: the "
                 "base's prediction with one width for all rows, from the same held-out rows.")
         << Table("Intervals",
                  Heading({"Asked for", "Covered", "Mean width", "Pinball loss", "Base: covered",
                           "Base: width", "Base: pinball loss"}),
                  rows);
}

}  // namespace resmem
