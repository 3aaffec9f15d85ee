#include <algorithm>
#include <optional>

#include "report/chart/line_chart.h"
#include "report/chart/strip.h"
#include "report/numbers.h"
#include "report/page/evaluation_sections.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

constexpr std::string_view kMixing = "knn-lm";

std::string NameOf(const Node& method) {
  const std::string name = method.At("method").Text();
  if (name == "base") return "Base model";
  if (name == "nearest-class-mean") return "Nearest class mean";
  if (name == "knn") return "k-NN on labels";
  if (name == "resmem") return "ResMem";
  if (name == kMixing) return "kNN-LM, \u03bb = " + Short(method.At("lambda").Number());
  return name;
}

double AccuracyOf(const Node& method) {
  return method.At("accuracy").At("value").Share();
}

struct Mixing {
  std::optional<size_t> best;  // of largest accuracy, the first among equals
  size_t count = 0;
};

Mixing FindMixing(const std::vector<Node>& methods) {
  Mixing mixing;
  std::optional<size_t>& best = mixing.best;
  for (size_t i = 0; i < methods.size(); ++i) {
    if (methods[i].At("method").Text() != kMixing) continue;
    ++mixing.count;
    if (!best || AccuracyOf(methods[i]) > AccuracyOf(methods[*best])) best = i;
  }
  return mixing;
}

Html MethodRow(const Node& method, const Scale& scale, double base) {
  const Node accuracy = method.At("accuracy"), gain = method.At("against_base");
  const std::string kind = method.At("method").Text();
  const char* style = kind == "resmem" ? "resmem" : kind == "base" ? "base" : "other";
  Html name;
  name << NameOf(method);
  Html gain_cell, interval_cell;
  if (kind == "base") {
    gain_cell << "\u2013";
    interval_cell << "\u2013";
  } else {
    gain_cell = PointsData(gain.At("gain"));
    interval_cell << PointsData(gain.At("low")) << " to " << PointsData(gain.At("high"));
  }
  return TableRow(
      name, DrawInterval(scale, accuracy.At("value").Share(), IntervalOf(accuracy), base, style),
      PercentData(accuracy.At("value")), gain_cell, interval_cell);
}

Html MixingFigure(const std::vector<Node>& methods) {
  Curve mixing{"kNN-LM", false, {}};
  for (const Node& method : methods) {
    if (method.At("method").Text() != kMixing) continue;
    mixing.points.push_back(
        {method.At("lambda").Number(), AccuracyOf(method), IntervalOf(method.At("accuracy"))});
  }
  if (mixing.points.size() < 2) return {};
  std::sort(mixing.points.begin(), mixing.points.end(),
            [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
  const double first = mixing.points.front().x, last = mixing.points.back().x;
  const auto level = [&](const char* name, bool reference, double value) {
    return Curve{name, reference, {{first, value, {}}, {last, value, {}}}};
  };
  Figure figure;
  figure.title = "Mixing labels instead of adding residuals";
  figure.x.label = "\u03bb, weight of the neighbors' labels";
  figure.y = {"accuracy", false, true};
  figure.curves = {level("ResMem", false, AccuracyOf(methods.back())), mixing,
                   level("base model", true, AccuracyOf(methods.front()))};
  return ChartFigure(
      figure.title,
      "kNN-LM answers with (1 \u2212 \u03bb) of the base's probability and \u03bb of "
      "the neighbors' labels. Bands are 95\u202f% intervals.",
      DrawLineChart(figure));
}

}  // namespace

Html MethodComparison(const Node& document) {
  const std::vector<Node> methods = document.At("methods").Items();
  if (methods.empty()) return {};
  const Mixing mixing = FindMixing(methods);
  Extent extent;
  for (const Node& method : methods) {
    const Interval interval = IntervalOf(method.At("accuracy"));
    // A hopeless mixture would squeeze all others together; it is in the curve and the table.
    const bool shown = method.At("method").Text() != kMixing;
    if (shown) extent.Include(interval.low);
    if (shown) extent.Include(interval.high);
  }
  if (mixing.best) {
    const Interval interval = IntervalOf(methods[*mixing.best].At("accuracy"));
    extent.Include(interval.low);
    extent.Include(interval.high);
  }
  const Scale scale = StripScale(extent);
  const double base = AccuracyOf(methods.front());
  Html rows, all_rows;
  for (size_t i = 0; i < methods.size(); ++i) {
    const Node& method = methods[i];
    if (method.At("method").Text() != kMixing || i == mixing.best) {
      rows << MethodRow(method, scale, base);
    }
    const Node accuracy = method.At("accuracy"), gain = method.At("against_base");
    all_rows << TableRow(Html() << NameOf(method), CountData(accuracy.At("correct")),
                         PercentData(accuracy.At("low")), PercentData(accuracy.At("high")),
                         CountData(gain.At("fixed")), CountData(gain.At("harmed")),
                         Data(gain.At("p_value"), PValue(gain.At("p_value").Share())));
  }
  Html head;
  head << Element("th", {{"scope", "col"}}, "Method")
       << Element("th", {{"scope", "col"}, {"class", "wide"}},
                  Element("span", {{"class", "hidden"}}, "accuracy in per cent, drawn"),
                  DrawStripAxis(scale))
       << Element("th", {{"scope", "col"}}, "Accuracy") << Element("th", {{"scope", "col"}}, "Gain")
       << Element("th", {{"scope", "col"}}, "95\u202f% interval of the gain");
  Html lede;
  lede << "All methods judged on the same " << CountData(document.At("rows"))
       << " rows and from the same neighbors. Bars are 95\u202f% intervals of each accuracy; the "
       << "gain's interval is paired and therefore narrower than the bars suggest.";
  if (mixing.count > 1) {
    lede << " kNN-LM is shown at its best \u03bb on these rows, at ResMem's k and \u03c3.";
  }
  return Html() << Element("p", {{"class", "lede"}}, lede)
                << Table("Methods side by side", Element("tr", {}, head), rows)
                << Details(
                       "All methods with counts",
                       Table("All methods",
                             Heading({"Method", "Right", "Low", "High", "Fixed", "Harmed", "p"}),
                             all_rows))
                << Element("div", {{"class", "grid-2"}}, MixingFigure(methods));
}

}  // namespace resmem
