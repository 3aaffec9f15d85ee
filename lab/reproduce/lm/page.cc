#include "reproduce/lm/page.h"

#include <cmath>

#include "console/format.h"
#include "reproduce/lm/experiments.h"
#include "reproduce/lm/judge.h"

namespace resmem::cli::reproduce::lm {
namespace {

std::string MethodTitle(const Json& method, double lambda) {
  const std::string name = TextAt(method, "method");
  if (name == "knn") return "k-NN alone";
  if (name == "knn-lm") return "kNN-LM, λ " + NumberText(lambda, 1) + " (chosen on validation)";
  return name == "resmem" ? "ResMem" : "base";
}

void AddMethods(const Json& at, MarkdownTable* table) {
  const double lambda = NumberAt(at, "lambda");
  for (const Json& method : At(at, "methods")) {
    const std::string name = TextAt(method, "method");
    if (name == "knn-lm" && !(std::abs(NumberAt(method, "lambda") - lambda) < 1e-6)) continue;
    const bool base = name == "base";
    table->AddRow({MethodTitle(method, lambda), ShareWithInterval(At(method, "accuracy")),
                   base ? "–" : PointsWithInterval(At(method, "gain")),
                   base ? "–" : ShareText(NumberAt(method, "gain/tpr")),
                   base ? "–" : ShareText(NumberAt(method, "gain/fpr")),
                   NumberText(NumberAt(method, "perplexity"), 2)});
  }
}

std::string SettingTitle(const std::string& name, const Json& at) {
  return (name == "paper" ? "The paper's values" : "Tuned on the validation text") +
         std::string(": ") + ParametersText(At(at, "parameters")) + ".";
}

}  // namespace

std::string FewDocuments(int64_t documents) {
  constexpr int64_t kEnough = 20;
  if (documents >= kEnough) return "";
  return " **These are " + Counted(documents, "document") +
         " only: intervals that draw so few are too narrow.**";
}

void WritePage(const Workspace& workspace, std::span<const Step> steps, Page* page) {
  page->Title("Language models: a memory of tokens");
  page->Paragraph(
      "Written by `resmem reproduce lm` from the results of its steps; nothing here is typed by "
      "hand. How to run it: docs/reproduce.md. Gains are in percentage points of next-token "
      "accuracy, intervals are 95 % and by documents; the texts that are judged on choose "
      "nothing.");
  if (workspace.options().quick) {
    page->Paragraph(
        "**A rehearsal (`--quick`) with a tiny model on a few documents: the numbers mean "
        "nothing.**");
  }
  AddSummary(workspace, page);
  AddModel(page);
  AddTexts(workspace, page);
  AddMixtures(workspace, page);
  AddTuning(page);
  AddSizes(page);
  AddApproximate(page);
  AddCosts(workspace, page);
  AddExamples(page);
  page->AddSteps(steps);
}

void AddModel(Page* page) {
  if (!page->Begin("The language model", "train")) return;
  const Json& train = page->result("train");
  const int64_t done = CountAt(train, "steps_done"), steps = CountAt(train, "steps");
  page->Paragraph(
      "Decoder-only T5 `" + TextAt(train, "network") + "`, " + Count(CountAt(train, "parameters")) +
      " parameters; preset " + TextAt(train, "preset") + ", " +
      Counted(CountAt(train, "passes"), "pass over the text") + " in " + Count(steps) +
      " steps of " + Count(CountAt(train, "batch")) + " windows, peak rate " +
      ShortNumber(NumberAt(train, "peak_rate")) + ", seed " + Count(CountAt(train, "seed")) +
      "; trained in " + Duration(NumberAt(train, "training_seconds")) + ", validation loss " +
      NumberText(NumberAt(train, "validation_loss"), 3) + " and accuracy " +
      ShareText(NumberAt(train, "validation_accuracy")) + " while it learned." +
      (At(train, "made_here") == true ? "" : " The run was there before (`--run`).") +
      (done < steps ? " **It was stopped after " + Count(done) + " steps.**" : ""));
  Figure figure{
      "Validation loss while learning", "", {"step", false, false}, {"loss", false, false}, {}};
  Curve curve{"validation", false, {}};
  for (const Json& line : At(train, "log")) {
    if (!(NumberAt(line, "validation_loss") >= 0)) continue;
    curve.points.push_back({NumberAt(line, "step"), NumberAt(line, "validation_loss"), {}});
  }
  if (curve.points.size() < 2) return;
  figure.curves = {curve};
  page->AddFigure("learning", figure);
}

void AddTexts(const Workspace& workspace, Page* page) {
  for (const TextSet& set : workspace.sets()) {
    if (!set.judged) continue;
    const std::string step = "eval-" + set.name;
    if (!page->Begin(set.title + (set.in_domain ? "" : ": out of domain"), step)) continue;
    const Json& result = page->result(step);
    page->Paragraph(Count(CountAt(result, "at/paper/rows")) + " tokens, the first " +
                    Count(CountAt(result, "at/paper/documents")) + " of " +
                    Count(CountAt(result, "of_documents")) + " documents; a memory of " +
                    Count(CountAt(result, "memory_rows")) + " tokens, approximate search; " +
                    Count(std::llround(NumberAt(result, "cost/tokens_per_second"))) +
                    " tokens a second in all." +
                    FewDocuments(CountAt(result, "at/paper/documents")));
    for (const char* name : {"paper", "tuned"}) {
      const Json& at = At(result, std::string("at/") + name);
      if (at.is_null()) continue;
      page->Paragraph(SettingTitle(name, at));
      MarkdownTable table({"method", "accuracy", "gain", "TPR", "FPR", "perplexity"});
      AddMethods(at, &table);
      page->Add(table);
      page->Paragraph("ResMem less kNN-LM: " + PointsWithInterval(At(at, "against_knn_lm")) +
                      " points.");
    }
  }
  page->Paragraph(
      "Perplexity is exp of the mean -log probability of the true token, at least 2^-23 each: the "
      "base's own, the neighbors' labels alone, their mixture, and ResMem's scores made into "
      "probabilities by the calibrator that the validation text chose.");
}

void AddMixtures(const Workspace& workspace, Page* page) {
  page->Heading("kNN-LM over λ");
  page->Paragraph(
      "(1 - λ) base + λ k-NN, beside ResMem, at the paper's k 50 and σ 1 and at the tuned values; "
      "accuracy, then perplexity. The paper's line is T5-large on C4.");
  std::vector<std::string> titles = {"text"};
  for (const paper::Mixture& mixture : paper::kLargeKnnLm) {
    titles.push_back("λ " + NumberText(mixture.lambda, 1));
  }
  titles.push_back("ResMem");
  MarkdownTable accuracy(titles), perplexity(titles);
  std::vector<std::string> known = {"the paper"};
  for (const paper::Mixture& mixture : paper::kLargeKnnLm) {
    known.push_back(ShareText(mixture.accuracy));
  }
  known.push_back(ShareText(paper::kLargeResMem));
  accuracy.AddRow(known);
  for (const TextSet& set : workspace.sets()) {
    for (const char* name : {"paper", "tuned"}) {
      const Json& at = At(page->result("eval-" + set.name), std::string("at/") + name);
      if (at.is_null()) continue;
      const std::string title = set.title + (std::string(name) == "paper" ? "" : ", tuned");
      std::vector<std::string> shares = {title}, perplexities = {title};
      for (const Json& method : At(at, "methods")) {
        const std::string which = TextAt(method, "method");
        if (which != "knn-lm" && which != "resmem") continue;
        shares.push_back(ShareText(NumberAt(method, "accuracy/value")));
        perplexities.push_back(NumberText(NumberAt(method, "perplexity"), 2));
      }
      accuracy.AddRow(shares);
      perplexity.AddRow(perplexities);
    }
  }
  page->Add(accuracy);
  page->Add(perplexity);
}

void AddTuning(Page* page) {
  if (!page->Begin("Tuning", "tune")) return;
  const Json& tune = page->result("tune");
  page->Paragraph(
      "On " + Count(CountAt(tune, "rows")) + " tokens of " +
      Counted(CountAt(tune, "documents"), "document") +
      " of the validation text, from one neighbor pass, " + Count(CountAt(tune, "points")) +
      " points of k and σ: chosen " + ParametersText(At(tune, "parameters")) + ", gain there " +
      PointsText(NumberAt(tune, "gain/value")) +
      " (optimistic: chosen on these tokens). T is not tuned: a sparse memory is frozen "
      "at T 1, which the paper uses too. Calibrator: " +
      TextAt(tune, "calibrator") + ", temperature " +
      NumberText(NumberAt(tune, "calibrator_temperature"), 2) + ". Best λ of kNN-LM there: " +
      NumberText(NumberAt(tune, "at/paper/lambda"), 1) + " at the paper's k and σ, " +
      NumberText(NumberAt(tune, "at/tuned/lambda"), 1) + " at the tuned ones.");
  for (const Json& warning : At(tune, "warnings")) {
    if (warning.is_string()) page->Paragraph("Note: " + warning.get<std::string>());
  }
}

}  // namespace resmem::cli::reproduce::lm
