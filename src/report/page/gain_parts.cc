#include <array>

#include "report/chart/strip.h"
#include "report/numbers.h"
#include "report/page/evaluation_sections.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

struct Quarter {
  const char* field;
  const char* style;
  const char* name;
  const char* meaning;
};
constexpr std::array<Quarter, 4> kQuarters = {{
    {"both_right", "right", "Right as before", "base right, memory right"},
    {"fixed", "fixed", "Fixed", "base wrong, memory right"},
    {"harmed", "harmed", "Harmed", "base right, memory wrong"},
    {"both_wrong", "wrong", "Wrong as before", "base wrong, memory wrong"},
}};

Html KeyRow(const Node& gain, const Quarter& quarter, double total) {
  const Node count = gain.At(quarter.field);
  Html name = Element(
      "svg", {{"class", "chip"}, {"viewBox", "0 0 12 12"}, {"aria-hidden", "true"}},
      Element("rect", {{"class", quarter.style}, {"width", "12"}, {"height", "12"}, {"rx", "2"}}));
  name << quarter.name << " " << Element("small", {}, quarter.meaning);
  return TableRow(name, CountData(count), Percent(static_cast<double>(count.Count()) / total));
}

}  // namespace

Html GainParts(const Node& gain) {
  const double total = static_cast<double>(std::max<int64_t>(1, gain.At("total").Count()));
  std::vector<Part> parts;
  Html rows;
  for (const Quarter& quarter : kQuarters) {
    parts.push_back({quarter.style, static_cast<double>(gain.At(quarter.field).Count()) / total});
    rows << KeyRow(gain, quarter, total);
  }
  Html lede;
  lede << "Every answer falls into one of four boxes, drawn in proportion. The gain is what was "
       << "fixed minus what was harmed: " << PercentData(gain.At("tpr")) << " \u2212 "
       << PercentData(gain.At("fpr")) << " = " << PointsData(gain.At("gain"))
       << " percentage points.";
  const int64_t fixed = gain.At("fixed").Count(), harmed = gain.At("harmed").Count();
  Html zoom;
  if (fixed + harmed > 0) {
    const double changed = static_cast<double>(fixed + harmed);
    const std::array<Part, 2> zoomed = {{{"fixed", static_cast<double>(fixed) / changed},
                                         {"harmed", static_cast<double>(harmed) / changed}}};
    zoom << Element("p", {{"class", "caption"}}, "Only the ", Grouped(fixed + harmed),
                    " answers that changed between right and wrong")
         << DrawParts(zoomed, "Of the answers that changed: fixed " + Grouped(fixed) + ", harmed " +
                                  Grouped(harmed));
  }
  return Html() << Element("p", {{"class", "lede"}}, lede)
                << Element("p", {{"class", "caption"}}, "All ", CountData(gain.At("total")),
                           " answers")
                << DrawParts(parts, "Shares of right as before, fixed, harmed, wrong as before")
                << zoom << Table("What changed", Heading({"Answers", "Count", "Share"}), rows);
}

}  // namespace resmem
