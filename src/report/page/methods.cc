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

// Tuned for the method itself, and not one of a sweep.
bool IsOwn(const Node& method) {
  const std::optional<Node> own = method.Find("own");
  return own && own->Flag();
}

bool IsSwept(const Node& method) {
  return method.At("method").Text() == kMixing && !IsOwn(method);
}

std::string NameOf(const Node& method) {
  const std::string name = method.At("method").Text();
  if (name == "base") return "Base model";
  if (name == "nearest-class-mean") return "Nearest class mean";
  if (name == "knn") return "k-NN on labels";
  if (name == "resmem") return "ResMem";
  if (name == "temperature") {
    return "Base at T = " + Short(method.At("temperature").Number());
  }
  if (name == "last-layer") return "Base, last layer fitted again";
  if (IsOwn(method) && name == kMixing) {
    return "kNN-LM at its own k, \u03c3, \u03bb = " + Short(method.At("lambda").Number());
  }
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
    if (!IsSwept(methods[i])) continue;
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
    if (!IsSwept(method)) continue;
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

Html Cell(const Html& content) {
  return Element("td", {}, content);
}

Html MetricsTable(const std::vector<Node>& methods) {
  Html rows;
  bool any = false;
  for (const Node& method : methods) {
    const std::optional<Node> metrics = method.Find("metrics");
    if (!metrics) continue;
    any = true;
    Html ece, auc;
    ece << ShortData(metrics->At("ece")) << " (" << ShortData(metrics->At("ece_low")) << " to "
        << ShortData(metrics->At("ece_high")) << ")";
    const std::optional<Node> found = metrics->Find("auc");
    if (found) {
      auc = ShortData(*found);
    } else {
      auc << "\u2013";
    }
    rows << TableRow(Html() << NameOf(method), ShortData(method.At("nll")),
                     ShortData(metrics->At("brier")), ece, auc, ShortData(metrics->At("macro_f1")),
                     PercentData(metrics->At("balanced_accuracy")),
                     PercentData(metrics->At("top5")));
  }
  if (!any) return {};
  return Table("Probabilities and answers of every method",
               Heading({"Method", "NLL", "Brier", "ECE (95\u202f% interval)", "AUC", "Macro F1",
                        "Balanced accuracy", "Top 5"}),
               rows);
}

// Row against column: accuracy in points / NLL saved; bold where the interval excludes 0.
Html PairCell(const std::vector<Node>& pairs, int64_t row, int64_t column) {
  for (const Node& pair : pairs) {
    const int64_t left = pair.At("left").Count(), right = pair.At("right").Count();
    const bool same = left == column && right == row, turned = left == row && right == column;
    if (!same && !turned) continue;
    const double sign = same ? 1 : -1;
    const auto shown = [](bool proved, const Html& text) {
      return proved ? Element("strong", {}, text) : text;
    };
    const Node gain = pair.At("gain");
    const Interval interval = IntervalOf(gain);
    Html cell;
    cell << shown(interval.low > 0 || interval.high < 0,
                  Html() << Points(sign * gain.At("gain").Number()));
    if (const std::optional<Node> nll = pair.Find("nll_gain")) {
      const double low = pair.At("nll_low").Number(), high = pair.At("nll_high").Number();
      cell << " / " << shown(low > 0 || high < 0, Html() << Signed(sign * nll->Number(), 4));
    }
    return Cell(cell);
  }
  return Cell(Html() << "\u2013");
}

Html PairMatrix(const Node& document, const std::vector<Node>& methods) {
  const std::optional<Node> found = document.Find("pairs");
  if (!found) return {};
  const std::vector<Node> pairs = found->Items();
  std::vector<int64_t> places;
  for (const Node& pair : pairs) {
    for (const char* side : {"left", "right"}) {
      const int64_t place = pair.At(side).Count();
      if (place < 0 || place >= std::ssize(methods)) pair.At(side).Fail("a position in methods");
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
  }
  if (places.size() < 3) return {};
  std::sort(places.begin(), places.end());
  Html head, rows;
  head << Element("th", {{"scope", "col"}}, "Better by");
  for (const int64_t place : places) {
    const std::string name = NameOf(methods[static_cast<size_t>(place)]);
    head << Element("th", {{"scope", "col"}}, "than " + name);
    Html row = Element("th", {{"scope", "row"}}, name);
    for (const int64_t other : places) row << PairCell(pairs, place, other);
    rows << Element("tr", {}, row);
  }
  return Html() << Element("p", {{"class", "lede"}},
                           "Every method against every other, paired on the same rows. First "
                           "accuracy in points, then the NLL saved. Bold: the 95\u202f% interval "
                           "excludes 0.")
                << Table("Every method against every other", Element("tr", {}, head), rows);
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
    const bool shown = !IsSwept(method);
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
  const bool own = std::any_of(methods.begin(), methods.end(), IsOwn);
  Html rows, all_rows;
  for (size_t i = 0; i < methods.size(); ++i) {
    const Node& method = methods[i];
    if (!IsSwept(method) || (i == mixing.best && !own)) {
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
  if (own) {
    lede << " k-NN and kNN-LM run at values that were tuned for them on the rows that the memory "
         << "was tuned on.";
  } else if (mixing.count > 1) {
    lede << " kNN-LM is shown at its best \u03bb on these rows, at ResMem's k and \u03c3.";
  }
  return Html() << Element("p", {{"class", "lede"}}, lede)
                << Table("Methods side by side", Element("tr", {}, head), rows)
                << Details(
                       "All methods with counts",
                       Table("All methods",
                             Heading({"Method", "Right", "Low", "High", "Fixed", "Harmed", "p"}),
                             all_rows))
                << MetricsTable(methods) << PairMatrix(document, methods)
                << Element("div", {{"class", "grid-2"}}, MixingFigure(methods));
}

}  // namespace resmem
