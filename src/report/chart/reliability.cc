#include "report/chart/reliability.h"

#include <algorithm>

#include "report/chart/svg.h"

namespace resmem {
namespace {

constexpr double kLeft = 44, kRight = 330, kTop = 10, kBottom = 216;
constexpr double kCountsTop = 226, kCountsBottom = 252;

double X(double share) {
  return kLeft + share * (kRight - kLeft);
}
double Y(double share) {
  return kBottom + share * (kTop - kBottom);
}

}  // namespace

Html DrawReliability(std::string_view title, const Calibration& calibration,
                     std::string_view style) {
  Html svg = OpenTag(
      "svg", {{"class", "plot"},
              {"viewBox", "0 0 340 294"},
              {"role", "img"},
              {"aria-label", std::string(title) + ": accuracy against confidence in 15 bins; the "
                                                  "values are in the table"}});
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    svg << SvgLine(kLeft, Y(share), kRight, Y(share), "grid")
        << SvgText(kLeft - 6, Y(share) + 3.5, "tick end", Fixed(share * 100, 0))
        << SvgText(X(share), kCountsBottom + 15, "tick middle", Fixed(share * 100, 0));
  }
  int64_t largest = 1;
  for (const Calibration::Bin& bin : calibration.bins) largest = std::max(largest, bin.count);
  const double width = 1.0 / static_cast<double>(calibration.bins.size());
  const std::string bar = std::string(style) + " bar";
  for (size_t i = 0; i < calibration.bins.size(); ++i) {
    const Calibration::Bin& bin = calibration.bins[i];
    if (bin.count == 0) continue;
    const double left = X(width * static_cast<double>(i)) + 1;
    const double across = X(width) - X(0) - 2;
    const double top = Y(std::max(bin.accuracy, bin.confidence));
    const double gap = Y(std::min(bin.accuracy, bin.confidence)) - top;
    const double column = (kCountsBottom - kCountsTop) * static_cast<double>(bin.count) /
                          static_cast<double>(largest);
    svg << SvgBox(left, Y(bin.accuracy), across, kBottom - Y(bin.accuracy), bar)
        << SvgBox(left, top, across, gap, "gap")
        << SvgBox(left, kCountsBottom - column, across, column, "count");
  }
  svg << SvgLine(X(0), Y(0), X(1), Y(1), "diagonal")
      << SvgText((kLeft + kRight) / 2, 288, "axis-label middle", "confidence, %")
      << CloseTag("svg");
  return Html() << Element("p", {{"class", "axis-title"}}, "right answers, %") << svg;
}

}  // namespace resmem
