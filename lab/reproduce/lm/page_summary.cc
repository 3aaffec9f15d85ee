#include "console/format.h"
#include "reproduce/lm/judge.h"
#include "reproduce/lm/page.h"

namespace resmem::cli::reproduce::lm {
namespace {

// "holds", "does not hold" or "not shown": is the difference above zero?
std::string Claim(const Json& difference) {
  const Interval interval = IntervalAt(difference, "");
  if (interval.low > 0) return "holds";
  if (interval.high < 0) return "**does not hold**: reversed";
  return interval.high >= interval.low ? "**not shown**: the interval holds 0" : "–";
}

// "tuned" where tuning chose to use the memory, else "paper".
std::string Choice(const Json& result) {
  return At(result, "at/tuned").is_object() ? "tuned" : "paper";
}

const Json& ResMemOf(const Json& result, const std::string& at) {
  return MethodAt(At(result, "at/" + at), "resmem");
}

void AddGain(const std::string& where, const std::string& known, double known_gain,
             const Json& gain, const std::string& why, Table* table) {
  table->AddRow(
      {where, known, PointsWithInterval(gain), Verdict(known_gain, IntervalAt(gain, "")), why});
}

void AddPerplexityLine(const Json& at, Table* table) {
  const double base = NumberAt(MethodAt(at, "base"), "perplexity");
  const double resmem = NumberAt(MethodAt(at, "resmem"), "perplexity");
  table->AddRow({"perplexity: base / ResMem, calibrated", "–",
                 NumberText(base, 2) + " / " + NumberText(resmem, 2),
                 resmem < base ? "better than the base's" : "**worse than the base's**",
                 "the calibrator lifts scores below zero to a floor"});
}

void AddTestLines(const Json& test, Table* table) {
  const std::string choice = Choice(test);
  const std::string why = "another model, memory and text: see below";
  const Json& base = At(MethodAt(At(test, "at/" + choice), "base"), "accuracy");
  table->AddRow({"base, next-token accuracy",
                 ShareText(paper::kSmallBase) + " (T5-small), " + ShareText(paper::kLargeBase) +
                     " (T5-large)",
                 ShareWithInterval(base), Verdict(paper::kSmallBase, IntervalAt(base, "")), why});
  const auto at = [&](const std::string& name, const std::string& title) {
    const Json& resmem = ResMemOf(test, name);
    if (resmem.is_null()) return;
    AddGain("ResMem's gain, " + title,
            PointsText(paper::kGain) + " (T5-small), " +
                PointsText(paper::kLargeResMem - paper::kLargeBase) + " (T5-large)",
            paper::kGain, At(resmem, "gain"), "verdict against T5-small", table);
    table->AddRow(
        {"its TPR / FPR", ShareText(paper::kTpr) + " / " + ShareText(paper::kFpr),
         ShareText(NumberAt(resmem, "gain/tpr")) + " / " + ShareText(NumberAt(resmem, "gain/fpr")),
         "–", ""});
  };
  at("paper", "the paper's k 50, σ 1, T 1");
  at("tuned", "k and σ tuned on held-out text");
  if (choice == "paper") {
    table->AddRow({"ResMem's gain, tuned", "–", "k 0: tuning chose the base alone", "**null**",
                   "no k and σ of the grid was better than the base on the validation text"});
  }
  for (const std::string name : {"paper", "tuned"}) {
    const Json& against = At(test, "at/" + name + "/against_knn_lm");
    if (against.is_null()) continue;
    table->AddRow({"ResMem less kNN-LM, " + (name == "paper" ? std::string("the paper's k and σ")
                                                             : std::string("tuned k and σ")),
                   PointsText(paper::kLargeResMem - 0.4488) + " (T5-large)",
                   PointsWithInterval(against), Claim(against),
                   "λ " + NumberText(NumberAt(test, "at/" + name + "/lambda"), 1) +
                       ", best on validation; k and σ are ResMem's"});
  }
  AddPerplexityLine(At(test, "at/" + choice), table);
}

void AddSizeLine(const Json& sizes, Table* table) {
  const Json& list = At(sizes, "sizes");
  if (!list.is_array() || list.empty()) return;
  const std::string choice = Choice(list.back());
  const Json& least = At(ResMemOf(list.front(), choice), "gain");
  const Json& most = At(ResMemOf(list.back(), choice), "gain");
  const double rise = NumberAt(most, "value") - NumberAt(least, "value");
  table->AddRow({"the gain grows with the memory", "claimed (for the sample)",
                 PointsText(NumberAt(least, "value")) + " at 10 %, " +
                     PointsText(NumberAt(most, "value")) + " at 100 %",
                 NumberAt(most, "low") > NumberAt(least, "high") ? "holds at these values"
                 : rise > 0 ? "not shown: the intervals overlap"
                            : "**does not hold**",
                 "k and σ tuned for 100 % only; same model"});
}

}  // namespace

void AddAnswer(Page* page) {
  const Json& test = page->result("eval-test");
  if (test.is_null()) return;
  const std::string choice = Choice(test);
  const Json& at = At(test, "at/" + choice);
  const Json& base = MethodAt(at, "base");
  const Json& resmem = MethodAt(at, "resmem");
  const double base_perplexity = NumberAt(base, "perplexity");
  const double perplexity = NumberAt(resmem, "perplexity");
  page->Paragraph(
      "**A memory of " + Count(CountAt(test, "memory_rows")) +
      " tokens changes next-token accuracy on held-out "
      "Wikipedia from " +
      ShareText(NumberAt(base, "accuracy/value")) + " to " +
      ShareText(NumberAt(resmem, "accuracy/value")) + ": " +
      PointsWithInterval(At(resmem, "gain")) + " points, " +
      (choice == "tuned" ? "with k and σ tuned on held-out text" : "at the paper's k and σ") +
      ".** ResMem less kNN-LM: " + PointsWithInterval(At(at, "against_knn_lm")) + ". " +
      (choice == "tuned" ? "At the paper's k and σ the gain is " +
                               PointsWithInterval(At(ResMemOf(test, "paper"), "gain")) + ". "
                         : "") +
      "Perplexity gets " + (perplexity < base_perplexity ? "better" : "worse") + ": " +
      NumberText(base_perplexity, 2) + " to " + NumberText(perplexity, 2) + ". The paper reports " +
      PointsText(paper::kGain) + " for T5-small on C4.");
}

void AddSummary(const Workspace& workspace, Page* page) {
  page->Heading("Summary");
  Table table = Table::OfNumbers(
      {"figure", "the paper (C4)", "here (held-out Wikipedia)", "verdict", "note"}, 2);
  const Json& test = page->result("eval-test");
  if (test.is_null()) {
    table.AddRow({"everything", "–", "not run yet", "–", ""});
  } else {
    AddTestLines(test, &table);
  }
  AddSizeLine(page->result("sizes"), &table);
  for (const TextSet& set : workspace.sets()) {
    const Json& result = page->result("eval-" + set.name);
    if (!set.judged || set.in_domain || result.is_null()) continue;
    const Json& gain = At(ResMemOf(result, Choice(result)), "gain");
    table.AddRow({"gain out of domain: " + set.title, "–", PointsWithInterval(gain), Claim(gain),
                  "the memory holds Wikipedia only"});
  }
  page->Add(table);
  page->Paragraph(
      "Match: the paper's figure lies within our 95 % interval. Intervals resample whole documents "
      "(2,000 times), because the tokens of a document are not independent." +
      (test.is_null() ? "" : FewDocuments(CountAt(test, "at/paper/documents"))) +
      " σ is in units of the key distances, which differ between models: the paper's σ 1 fits the "
      "paper's keys only.");
  const Json& train = page->result("train");
  const Json& memory = page->result("memorize");
  if (train.is_null() || memory.is_null()) return;
  page->Paragraph(
      "**Differences from the paper.** The paper's base has seen C4 for 1,000,000 steps of 128 "
      "windows, and "
      "its memory holds 1,639 million tokens, " +
      NumberText(paper::kMemoryTokens / NumberAt(memory, "rows"), 0) +
      " times as many as ours. Our base of " + Count(CountAt(train, "parameters")) +
      " parameters has seen " + Count(CountAt(train, "learned/tokens")) + " tokens " +
      Counted(CountAt(train, "passes"), "time") + " and the memory holds " +
      Count(CountAt(memory, "rows")) +
      " tokens of that same text. A weaker base leaves more errors to fix; a smaller memory has "
      "more "
      "distant neighbors. The texts differ too: compare the gain and its parts, not the "
      "accuracies.");
}

}  // namespace resmem::cli::reproduce::lm
