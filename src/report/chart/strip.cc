#include "report/chart/strip.h"

#include <algorithm>

#include "report/numbers.h"

namespace resmem {
namespace {

std::string At(double percent) {
  return Coordinate(percent) + "%";
}

Html Strip(std::string_view style, const Html& marks) {
  return Element("svg", {{"class", std::string(style)}, {"aria-hidden", "true"}}, marks);
}

Html Vertical(double x, std::string_view style) {
  return Element(
      "line",
      {{"class", std::string(style)}, {"x1", At(x)}, {"x2", At(x)}, {"y1", "0"}, {"y2", "100%"}});
}

}  // namespace

Scale StripScale(const Extent& extent) {
  return Scale(extent, 4, 96);
}

Html DrawStripAxis(const Scale& scale) {
  constexpr int kTicks = 4;
  const int decimals = std::max(0, DecimalsOf(RoundStep(scale.high() - scale.low(), kTicks)) - 2);
  Html marks;
  for (const double tick : scale.Ticks(kTicks)) {
    marks << Element("text", {{"class", "tick middle"}, {"x", At(scale(tick))}, {"y", "12"}},
                     Fixed(tick * 100, decimals));
  }
  return Strip("strip", marks);
}

Html DrawInterval(const Scale& scale, double value, const Interval& interval, double reference,
                  std::string_view style) {
  Html marks = Vertical(scale(reference), "through");
  marks << Element("line", {{"class", std::string("span ").append(style)},
                            {"x1", At(scale(interval.low))},
                            {"x2", At(scale(interval.high))},
                            {"y1", "50%"},
                            {"y2", "50%"}})
        << Element("circle", {{"class", std::string("dot ").append(style)},
                              {"cx", At(scale(value))},
                              {"cy", "50%"},
                              {"r", "5"}});
  return Strip("strip", marks);
}

Html DrawDivergingBar(const Scale& scale, double value) {
  const double zero = scale(0), end = scale(value);
  Html marks = Element("rect", {{"class", value < 0 ? "harmed" : "fixed"},
                                {"x", At(std::min(zero, end))},
                                {"y", "22%"},
                                {"width", At(std::abs(end - zero))},
                                {"height", "56%"},
                                {"rx", "1.5"}});
  marks << Vertical(zero, "zero");
  return Strip("strip", marks);
}

Html DrawParts(std::span<const Part> parts, std::string_view description) {
  Html marks;
  double left = 0;
  for (const Part& part : parts) {
    marks << Element("rect", {{"class", std::string(part.style)},
                              {"x", At(left * 100)},
                              {"y", "0"},
                              {"width", At(part.share * 100)},
                              {"height", "100%"}});
    left += part.share;
  }
  return Element("svg",
                 {{"class", "parts"}, {"role", "img"}, {"aria-label", std::string(description)}},
                 marks);
}

}  // namespace resmem
