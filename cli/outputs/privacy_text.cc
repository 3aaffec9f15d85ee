#include "outputs/privacy_text.h"

#include "console/format.h"

namespace resmem::cli {
namespace {

std::string Range(const Interval& interval) {
  return Fixed(interval.low, 3) + " .. " + Fixed(interval.high, 3);
}
std::string SignedRange(const Interval& interval) {
  return readable::Signed(interval.low, 3) + " .. " + readable::Signed(interval.high, 3);
}
std::string Of(int64_t part, int64_t all) {
  if (all == 0) return "-";
  return Percent(static_cast<double>(part) / static_cast<double>(all), 1);
}

std::string MembershipText(const PrivacyReport& report) {
  Table table = Table::OfNumbers({"answer, clue", "AUC", "95 % interval", "over the base",
                                  "95 % interval", "TPR at 1 %", "at 0.1 %", "AUC left out"});
  for (const MembershipTest& test : report.membership) {
    const bool base = test.method == Method::kBase && test.clue != Clue::kDistance;
    table.AddRow({test.clue == Clue::kDistance
                      ? "distance to the nearest row"
                      : std::string(MethodName(test.method)) + ", " + ClueName(test.clue),
                  Fixed(test.inside.auc, 3), Range(test.inside.interval),
                  base ? "" : readable::Signed(test.more, 3),
                  base ? "" : SignedRange(test.more_interval),
                  Percent(test.inside.tpr_at_1_percent, 1),
                  Percent(test.inside.tpr_at_0_1_percent, 1), Fixed(test.left_out.auc, 3)});
  }
  return "\ntelling members from held-out rows: 0.5 is chance, 1 is certain\n" + table.Text();
}

std::string LabelsText(const PrivacyReport& report) {
  Table table = Table::OfNumbers(
      {"answer", "labels right", "left out", "base wrong, right here", "left out"});
  for (const LabelRecovery& labels : report.labels) {
    table.AddRow({MethodName(labels.method), Of(labels.recovered, labels.members),
                  Of(labels.recovered_left_out, labels.members),
                  Of(labels.base_wrong_recovered, labels.base_wrong),
                  Of(labels.base_wrong_recovered_left_out, labels.base_wrong)});
  }
  return "\nlabels of " + Counted(report.members, "member") +
         ", asked with their keys and logits\n" + table.Text();
}

std::string NearText(const PrivacyReport& report) {
  if (report.near.empty() || report.near[0].members == 0) return "";
  Table table = Table::OfNumbers({"key moved by", "still the nearest", "base wrong, right here"});
  for (const NearQuery& near : report.near) {
    table.AddRow({ShortNumber(near.noise), Of(near.nearest, near.members),
                  Of(near.recovered, near.base_wrong)});
  }
  return "\nthe same with " + Counted(report.near[0].members, "key") +
         " moved, in distances to the nearest other row\n" + table.Text();
}

std::string KeysText(const KeyRecovery& keys) {
  if (!keys.obstacle.empty()) return "\nkeys from distances: not tried: " + keys.obstacle + "\n";
  if (keys.tried == 0) return "";
  std::string text =
      "\nkeys from the distances that neighbor lists show: " + Count(keys.recovered) + " of " +
      Count(keys.tried) + " computed";
  if (keys.recovered > 0) text += ", median error " + Scientific(keys.median_error);
  return text + ", by " + Count(keys.queries) + " queries\n";
}

std::string SweepText(const PrivacyReport& report) {
  Table table = Table::OfNumbers({"ResMem's k", "sigma", "a row's own weight", "AUC by gain",
                                  "TPR at 1 %", "held-out rows right"});
  for (const PrivacyPoint& point : report.sweep) {
    table.AddRow({Count(point.parameters.k),
                  ShortNumber(static_cast<double>(point.parameters.sigma), 3),
                  Percent(point.own_weight, 1), Fixed(point.gain.auc, 3),
                  Percent(point.gain.tpr_at_1_percent, 1), Percent(point.accuracy)});
  }
  return "\nother k and sigma\n" + table.Text();
}

std::string ListText(const char* title, const std::vector<std::string>& sentences) {
  std::string text = sentences.empty() ? "" : std::string("\n") + title + "\n";
  for (const std::string& sentence : sentences) text += "- " + sentence + "\n";
  return text;
}

}  // namespace

std::string PrivacyText(const PrivacyReport& report, int64_t rows) {
  return Count(report.members) + " of " + Counted(rows, "row") + " asked, and " +
         Counted(report.held_out, "held-out row") + "; the memory answers by " +
         MethodName(report.method) + ", k = " + Count(report.parameters.k) + "\n" +
         MembershipText(report) + LabelsText(report) + NearText(report) + KeysText(report.keys) +
         SweepText(report) + ListText("what follows", report.advice) +
         ListText("beware", report.warnings);
}

}  // namespace resmem::cli
