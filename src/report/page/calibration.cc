#include "report/chart/reliability.h"
#include "report/chart/strip.h"
#include "report/numbers.h"
#include "report/page/evaluation_sections.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

Calibration ReadCalibration(const Node& node) {
  Calibration calibration;
  const std::vector<Node> bins = node.At("bins").Items();
  if (bins.size() != calibration.bins.size()) {
    node.At("bins").Fail("a list of 15 bins");
    return calibration;
  }
  for (size_t i = 0; i < bins.size(); ++i) {
    calibration.bins[i] = {bins[i].At("count").Count(), bins[i].At("confidence").Share(),
                           bins[i].At("accuracy").Share()};
  }
  return calibration;
}

Html BinRow(const Node& base, const Node& resmem, size_t bin, size_t bins) {
  const auto edge = [&](size_t i) {
    return Fixed(100.0 * static_cast<double>(i) / static_cast<double>(bins), 0);
  };
  const auto share = [](const Node& node, const char* field) {
    Html empty;
    empty << "\u2013";
    return node.At("count").Count() == 0 ? empty : PercentData(node.At(field));
  };
  Html name;
  name << edge(bin) << " to " << edge(bin + 1) << "\u202f%";
  return TableRow(name, CountData(base.At("count")), share(base, "confidence"),
                  share(base, "accuracy"), CountData(resmem.At("count")),
                  share(resmem, "confidence"), share(resmem, "accuracy"));
}

}  // namespace

Html CalibrationSection(const Node& node, bool by_calibrator) {
  const Node base = node.At("base"), resmem = node.At("resmem");
  const Calibration before = ReadCalibration(base), after = ReadCalibration(resmem);
  const auto row = [&](const char* name, const char* meaning, const char* field) {
    const Node from = base.At(field), to = resmem.At(field);
    Html first;
    first << name << " " << Element("small", {}, meaning);
    return TableRow(first, ShortData(from), ShortData(to), Signed(to.Number() - from.Number(), 4));
  };
  Html rows;
  rows << row("Negative log-likelihood", "lower is better", "nll")
       << row("Brier score", "lower is better", "brier")
       << row("Expected calibration error", "15 bins, lower is better", "ece");
  const std::vector<Node> base_bins = base.At("bins").Items(),
                          resmem_bins = resmem.At("bins").Items();
  Html bins;
  for (size_t i = 0; i < std::min(base_bins.size(), resmem_bins.size()); ++i) {
    bins << BinRow(base_bins[i], resmem_bins[i], i, base_bins.size());
  }
  Html lede;
  lede << "Where bars end on the diagonal, an answer given with 80\u202f% confidence is right four "
       << "times in five. The columns below tell how many answers fall into each bin; a bin of few "
       << "answers is drawn hollow, because it shows chance rather than the method.";
  if (by_calibrator) {
    lede << " ResMem's probabilities are made from its scores by \u201c"
         << Name(node.At("calibrator").Text()) << "\u201d.";
  }
  return Html() << Element("p", {{"class", "lede"}}, lede)
                << Element("div", {{"class", "grid-2"}},
                           ChartFigure("Before: base model", "",
                                       DrawReliability("Base model", before, "base")),
                           ChartFigure("After: with the memory", "",
                                       DrawReliability("With the memory", after, "resmem")))
                << Table("Calibration", Heading({"Measure", "Base", "With memory", "Change"}), rows)
                << Details("Bins as a table",
                           Table("Bins of confidence",
                                 Heading({"Confidence", "Base, answers", "mean confidence", "right",
                                          "With memory, answers", "mean confidence", "right"}),
                                 bins));
}

Html CoarseSection(const Node& coarse) {
  const auto share = [&](const char* part, const char* whole) {
    const int64_t all = coarse.At(whole).Count(), some = coarse.At(part).Count();
    if (some > all) coarse.At(part).Fail("at most the number it is a part of");
    return all == 0 ? 0.0 : static_cast<double>(some) / static_cast<double>(all);
  };
  const double of_fixed = share("fixed_same_coarse", "fixed");
  const double of_errors = share("base_errors_same_coarse", "base_errors");
  const auto row = [&](const char* name, const char* part, const char* whole, double value) {
    const std::array<Part, 2> parts = {{{"fixed", value}, {"rest", 1 - value}}};
    return TableRow(Html() << name, DrawParts(parts, name), Percent(value, 1),
                    CountData(coarse.At(part)), CountData(coarse.At(whole)));
  };
  Html rows;
  rows << row("Mistakes that the memory fixed", "fixed_same_coarse", "fixed", of_fixed)
       << row("All mistakes of the base", "base_errors_same_coarse", "base_errors", of_errors);
  Html head;
  head << Element("th", {{"scope", "col"}}, "")
       << Element("th", {{"scope", "col"}, {"class", "wide"}})
       << Element("th", {{"scope", "col"}}, "Same superclass")
       << Element("th", {{"scope", "col"}}, "Count") << Element("th", {{"scope", "col"}}, "of");
  Html lede;
  lede << "A near miss is a wrong answer from the right superclass. Among the mistakes that the "
       << "memory fixed, " << Percent(of_fixed, 1)
       << " were near misses; among all mistakes of the "
       << "base, " << Percent(of_errors, 1) << ". "
       << (of_fixed > of_errors
               ? "The memory adds mostly fine detail that the base had not learned."
               : "The memory does not favor near misses here.");
  return Html() << Element("p", {{"class", "lede"}}, lede)
                << Table("Near misses", Element("tr", {}, head), rows);
}

}  // namespace resmem
