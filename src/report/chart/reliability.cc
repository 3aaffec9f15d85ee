#include "report/chart/reliability.h"

#include <algorithm>

#include "report/chart/svg.h"

namespace resmem {
namespace {

constexpr double kLeft = 44, kRight = 330, kTop = 10, kBottom = 216;
constexpr double kCountsTop = 236, kCountsBottom = 262;

double X(double share) {
  return kLeft + share * (kRight - kLeft);
}
double Y(double share) {
  return kBottom + share * (kTop - kBottom);
}

// In few letters: "7", "950", "1.2k", "34k".
std::string ShortCount(int64_t count) {
  if (count < 1000) return Grouped(count);
  if (count < 1'000'000)
    return Fixed(static_cast<double>(count) / 1000, count < 9950 ? 1 : 0) + "k";
  return Fixed(static_cast<double>(count) / 1e6, count < 9'950'000 ? 1 : 0) + "M";
}

}  // namespace

Html DrawReliability(std::string_view title, const Calibration& calibration,
                     std::string_view style) {
  Html svg = OpenTag(
      "svg", {{"class", "plot"},
              {"viewBox", "0 0 340 304"},
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
    // Right answers as far as the confidence was earned; what is beyond it has a color of its own.
    const bool few = bin.count<kFewAnswers, over = bin.confidence> bin.accuracy;
    const double earned = few ? bin.accuracy : std::min(bin.accuracy, bin.confidence);
    const double beyond = std::max(bin.accuracy, bin.confidence);
    const double column = (kCountsBottom - kCountsTop) * static_cast<double>(bin.count) /
                          static_cast<double>(largest);
    svg << SvgBox(left, Y(earned), across, kBottom - Y(earned), few ? bar + " few" : bar)
        << (few ? Html()
                : SvgBox(left, Y(beyond), across, Y(earned) - Y(beyond), over ? "over" : "under"))
        << SvgBox(left, kCountsBottom - column, across, column, "count")
        << SvgText(left + across / 2, kCountsBottom - column - 3, "bin-count middle",
                   ShortCount(bin.count));
  }
  svg << SvgLine(X(0), Y(0), X(1), Y(1), "diagonal")
      << SvgText((kLeft + kRight) / 2, 298, "axis-label middle", "confidence, %")
      << CloseTag("svg");
  const auto key = [](const std::string& box, const char* name) {
    return Element(
        "li", {},
        Element("svg", {{"class", "chip"}, {"viewBox", "0 0 12 12"}, {"aria-hidden", "true"}},
                SvgBox(1, 1, 10, 10, box)),
        name);
  };
  return Html() << Element("ul", {{"class", "legend"}}, key(bar, "right answers"),
                           key("over", "too confident"), key("under", "not confident enough"),
                           key(bar + " few", "fewer than 10 answers"), key("count", "answers"))
                << Element("p", {{"class", "axis-title"}}, "right answers, %") << svg;
}

}  // namespace resmem
