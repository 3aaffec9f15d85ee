#include <cmath>

#include "console/format.h"
#include "reproduce/cifar100/page/paper_figures.h"
#include "reproduce/cifar100/page/sections.h"
#include "reproduce/cifar100/training_run.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

// Two means of several seeds: apart where their difference is beyond twice its standard error.
std::string VerdictOfMeans(double known, double known_deviation, int known_count,
                           const Spread& ours) {
  if (ours.count < 2) return "–";
  const double error = std::sqrt(known_deviation * known_deviation / known_count +
                                 ours.deviation * ours.deviation / static_cast<double>(ours.count));
  return Verdict(known, {ours.mean - 2 * error, ours.mean + 2 * error});
}

std::string SpreadText(const Spread& spread) {
  if (spread.count == 0) return "not run yet";
  if (spread.count == 1) return ShareText(spread.mean) + " (1 seed)";
  return ShareText(spread.mean) + " ± " + Fixed(100 * spread.deviation, 2) + " (" +
         Counted(spread.count, "seed") + ")";
}

void AddPaperLines(const Page& page, Table* table) {
  const Json& run = page.result("paper-resnet8-seed1");
  if (run.is_null()) {
    table->AddRow({"ResNet-8, the paper's recipe",
                   ShareText(paper::kBase) + " → " + ShareText(paper::kResMem), "not run yet", "–",
                   ""});
    return;
  }
  const auto line = [&](const std::string& name, double known, const char* field,
                        const std::string& why) {
    const Json& ours = At(run, field);
    table->AddRow({name, ShareText(known), ShareWithInterval(ours),
                   Verdict(known, IntervalAt(ours, "")), why});
  };
  line("ResNet-8, full recipe: base", paper::kBase, "test/base", "");
  line("k-NN only, k 53, σ 0.7", paper::kKnn, "test/knn", "");
  line("ResMem, k 53, σ 0.7, T 1.4", paper::kResMem, "test/resmem", "");
  const Json& gain = At(run, "test/gain");
  table->AddRow({"gain", PointsText(paper::kGain), PointsWithInterval(gain),
                 Verdict(paper::kGain, IntervalAt(gain, "")), "see below"});
  const int64_t total = CountAt(run, "test/base/total");
  const auto share = [&](const std::string& name, double known, const char* field) {
    const Json ours = ToJson(MakeAccuracy(CountAt(run, field), total));
    table->AddRow({name, ShareText(known), ShareWithInterval(ours),
                   Verdict(known, IntervalAt(ours, "")), ""});
  };
  share("TPR: wrong → right", paper::kTpr, "test/gain/fixed");
  share("FPR: right → wrong", paper::kFpr, "test/gain/harmed");
  table->AddRow({"ResMem on its training images", "about 100 %",
                 ShareText(NumberAt(run, "train/resmem/value")),
                 NumberAt(run, "train/resmem/value") > 0.995 ? "match" : "below",
                 "base there: " + ShareText(NumberAt(run, "train/base/value"))});
  const Json& tuned = page.result("paper-tuned");
  if (tuned.is_null()) return;
  table->AddRow({"gain at tuned values (a')", "–",
                 PointsWithInterval(At(tuned, "carried_over_scaled/gain")), "–",
                 ParametersText(At(tuned, "carried_over_scaled/parameters"))});
}

void AddSeedLines(const Page& page, Table* table) {
  std::vector<double> base, fixed, resmem, gain;
  for (const std::string& name : RunsNamed("short-resnet8-")) {
    const Json& run = page.result(name);
    if (run.is_null()) continue;
    base.push_back(NumberAt(run, "test/base/value"));
    fixed.push_back(NumberAt(run, "test/resmem/value"));
    resmem.push_back(NumberAt(run, "tuned/gain/test/resmem/value"));
    gain.push_back(NumberAt(run, "tuned/gain/test/gain/value"));
  }
  const Spread of_base = SpreadOf(base), of_fixed = SpreadOf(fixed);
  const Spread of_resmem = SpreadOf(resmem), of_gain = SpreadOf(gain);
  table->AddRow(
      {"ResNet-8 over seeds, short preset: base",
       ShareText(paper::kSeedsBase) + " ± " + Fixed(100 * paper::kSeedsBaseDeviation, 2) +
           " (5 seeds)",
       SpreadText(of_base),
       VerdictOfMeans(paper::kSeedsBase, paper::kSeedsBaseDeviation, paper::kSeeds, of_base),
       "24 epochs, 10 % held out; the paper: 256 epochs"});
  table->AddRow(
      {"the same: ResMem at the paper's k, σ, T",
       ShareText(paper::kSeedsResMem) + " ± " + Fixed(100 * paper::kSeedsResMemDeviation, 2) +
           " (5 seeds)",
       SpreadText(of_fixed),
       VerdictOfMeans(paper::kSeedsResMem, paper::kSeedsResMemDeviation, paper::kSeeds, of_fixed),
       of_fixed.count == 0 ? "" : "mean gain " + PointsText(of_fixed.mean - of_base.mean)});
  table->AddRow({"the same: ResMem tuned on held-out images", "–", SpreadText(of_resmem), "–",
                 of_gain.count == 0 ? "" : "mean gain " + PointsText(of_gain.mean)});
}

void AddOtherLines(const Page& page, Table* table) {
  const Json& coarse = At(page.result("coarse"), "at/paper/coarse");
  if (!coarse.is_null()) {
    Json difference = At(coarse, "interval");
    difference["value"] = NumberAt(coarse, "difference");
    table->AddRow({"fixed errors are within the superclass more often than others", "examples",
                   PointsWithInterval(difference),
                   NumberAt(difference, "low") > 0    ? "holds"
                   : NumberAt(difference, "high") < 0 ? "does not hold"
                                                      : "not shown",
                   ""});
  }
  const Json& latency = page.result("latency");
  if (latency.is_null()) return;
  const auto time = [&](const std::string& name, double known, const char* field) {
    const double ours = NumberAt(latency, field);
    table->AddRow({name, Fixed(known, 1) + " ms", NumberText(ours, 3) + " ms",
                   ours < known ? Fixed(known / ours, 0) + " times faster"
                                : Fixed(ours / known, 1) + " times slower",
                   "another machine"});
  };
  time("one image through ResNet-8, one thread", paper::kResNet8Milliseconds, "network/median_ms");
  time("k-NN step for one image, one thread", paper::kKnnMilliseconds, "knn_step/median_ms");
}

// What the runs and the diagnosis tell about the size of the gain; intervals decide.
void AddReasonForGain(const Page& page, const Json& run, std::string* text) {
  const Json& epochs = At(page.result("epochs"), "epochs");
  if (epochs.is_array() && epochs.size() > 1) {
    const auto at = [](const Json& epoch) {
      return "at epoch " + Count(CountAt(epoch, "epoch")) + " the base has " +
             ShareText(NumberAt(epoch, "test/base/value")) + " and the gain is " +
             PointsWithInterval(At(epoch, "test/gain"));
    };
    *text += " The gain goes with how good the base is: " + at(epochs.front()) + "; " +
             at(epochs.back()) + ".";
  }
  const Json& diagnosis = page.result("diagnosis");
  if (TextAt(diagnosis, "run") == TextAt(run, "run")) {
    const Json* best = nullptr;
    for (const auto& [name, hindsight] : At(diagnosis, "hindsight").items()) {
      const Json& gain = At(hindsight, "gain");
      if (best == nullptr || NumberAt(gain, "value") > NumberAt(*best, "value")) best = &gain;
    }
    if (best != nullptr) {
      *text += " The best k, σ and T in hindsight gain " + PointsWithInterval(*best) +
               (IntervalAt(*best, "").high < paper::kGain
                    ? ": tuning does not explain the difference."
                    : ": the interval contains the paper's gain, so tuning is not excluded as a "
                      "reason.");
    }
  }
  const Json& seen = At(diagnosis, "memories/seen/gain");
  const Json& unseen = At(diagnosis, "memories/unseen/gain");
  if (seen.is_null() || unseen.is_null()) return;
  *text += " A memory of images that the base has not seen gains " + PointsWithInterval(unseen) +
           ", one of images that it has seen " + PointsWithInterval(seen) +
           (IntervalAt(unseen, "").low > IntervalAt(seen, "").high
                ? ": the base has learned part of its residuals away."
                : ": the intervals overlap, so a difference is not shown.");
}

}  // namespace

void AddAnswer(Page* page) {
  const Json& run = page->result("paper-resnet8-seed1");
  if (run.is_null()) return;
  const Json& gain = At(run, "test/gain");
  const std::string verdict = Verdict(paper::kGain, IntervalAt(gain, ""));
  page->Paragraph(
      "**With the paper's recipe and its k, σ and T, ResMem raises the test accuracy of ResNet-8 "
      "from " +
      ShareText(NumberAt(run, "test/base/value")) + " to " +
      ShareText(NumberAt(run, "test/resmem/value")) + ": " + PointsWithInterval(gain) +
      " points.** The paper reports " + ShareText(paper::kBase) + " to " +
      ShareText(paper::kResMem) + ", a gain of " + PointsText(paper::kGain) + ". " +
      (verdict == "match" ? "The gain is reproduced."
                          : "The direction is reproduced; the base is " +
                                Verdict(paper::kBase, IntervalAt(At(run, "test/base"), "")) +
                                " and the gain " + verdict + " the paper's."));
}

void AddSummary(Page* page) {
  page->Heading("Summary");
  Table table = Table::OfNumbers({"figure", "the paper", "here", "verdict", "note"}, 2);
  AddPaperLines(*page, &table);
  AddSeedLines(*page, &table);
  AddOtherLines(*page, &table);
  page->Add(table);
  page->Paragraph(
      "Match: the paper's figure lies within our 95 % interval; for means over seeds, "
      "within two standard errors of the difference.");
  const Json& run = page->result("paper-resnet8-seed1");
  if (run.is_null()) return;
  std::string reasons = "**The size of the gain.** The base gets " +
                        ShareText(NumberAt(run, "train/base/value")) +
                        " of its own training images right.";
  AddReasonForGain(*page, run, &reasons);
  page->Paragraph(reasons);
}

}  // namespace resmem::cli::reproduce::cifar100
