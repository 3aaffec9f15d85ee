#include <cmath>

#include "console/format.h"
#include "reproduce/lm/judge.h"
#include "reproduce/lm/page.h"

namespace resmem::cli::reproduce::lm {
namespace {

// A bar or a line break of the text would end a table's cell.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const char letter : text) {
    if (letter == '|') cell += '\\';
    cell += letter == '\n' || letter == '\r' ? ' ' : letter;
  }
  return cell;
}

std::string PerSecond(double count, double seconds) {
  return seconds > 0 && !std::isnan(count) ? Count(std::llround(count / seconds)) + " tokens/s"
                                           : "–";
}

// Does the memory hold what the model learned from, as the paper's does?
std::string LearnedText(const Json& train, int64_t memorized) {
  const int64_t common = CountAt(train, "learned/common_documents");
  if (common < 0) return "what the model learned from is not known.";
  if (memorized <= common) return "the model has learned from all of them.";
  return "**the model has learned from the first " + Count(common) + " of these documents only**.";
}

}  // namespace

void AddSizes(Page* page) {
  if (!page->Begin("Size of the memory", "sizes")) return;
  const Json& result = page->result("sizes");
  page->Paragraph(
      "The first 10 to 100 % of the memory's tokens, whole documents; " +
      Count(CountAt(result, "rows")) + " tokens of " +
      Counted(CountAt(result, "documents"), "document") +
      " of the held-out Wikipedia. Search is exact: the keys are searched part by part and merged, "
      "so that one pass gives the true neighbors for every size. **k and σ were tuned for the "
      "whole "
      "memory only**: values tuned for a small memory might gain more." +
      FewDocuments(CountAt(result, "documents")));
  Table table = Table::OfNumbers({"share", "tokens in memory", "ResMem, the paper's values", "gain",
                                  "ResMem, tuned", "gain, tuned"});
  Figure figure{"Gain against the size of the memory",
                "",
                {"tokens in the memory", true, false},
                {"gain", false, true},
                {}};
  Curve at_paper{"the paper's k and σ", false, {}}, tuned{"tuned", false, {}};
  for (const Json& size : At(result, "sizes")) {
    const Json& known = MethodAt(At(size, "at/paper"), "resmem");
    const Json& chosen = MethodAt(At(size, "at/tuned"), "resmem");
    const double rows = NumberAt(size, "rows");
    table.AddRow(
        {Count(CountAt(size, "share")) + " %", Count(CountAt(size, "rows")),
         ShareText(NumberAt(known, "accuracy/value")), PointsWithInterval(At(known, "gain")),
         ShareText(NumberAt(chosen, "accuracy/value")), PointsWithInterval(At(chosen, "gain"))});
    at_paper.points.push_back(PointOf(rows, At(known, "gain")));
    if (!chosen.is_null()) tuned.points.push_back(PointOf(rows, At(chosen, "gain")));
  }
  page->Add(table);
  if (!tuned.points.empty()) figure.curves.push_back(tuned);
  figure.curves.push_back(at_paper);
  page->AddFigure("sizes", figure);
}

void AddApproximate(Page* page) {
  if (!page->Begin("Approximate against exact search", "approximate")) return;
  const Json& result = page->result("approximate");
  const auto rows = NumberAt(result, "rows");
  page->Paragraph("The same " + Count(CountAt(result, "rows")) +
                  " tokens by the index and by exact search. "
                  "Recall of the " +
                  Count(CountAt(result, "recall/k")) + " nearest over " +
                  Count(CountAt(result, "recall/queries")) + " keys of the memory: " +
                  NumberText(NumberAt(result, "recall/found"), 4) + " (asked " +
                  NumberText(NumberAt(result, "recall/asked"), 2) + "). Search takes " +
                  NumberText(1000 * NumberAt(result, "search_seconds") / rows, 3) +
                  " ms per token by the index, " +
                  NumberText(1000 * NumberAt(result, "exact_search_seconds") / rows, 3) +
                  " ms exactly, both in batches on all cores.");
  Table table = Table::OfNumbers({"setting", "exact", "approximate", "difference"});
  for (const char* name : {"paper", "tuned"}) {
    const Json& at = At(result, std::string("at/") + name);
    if (at.is_null()) continue;
    table.AddRow({ParametersText(At(at, "parameters")), ShareWithInterval(At(at, "exact")),
                  ShareWithInterval(At(at, "approximate")),
                  PointsWithInterval(At(at, "difference"))});
  }
  page->Add(table);
}

void AddCosts(const Workspace& workspace, Page* page) {
  page->Heading("Bytes and time of each stage");
  Table table = Table::OfNumbers({"stage", "tokens", "bytes", "time", "rate"}, 0);
  const Json& sets = At(page->result("tokens"), "sets");
  for (const TextSet& set : workspace.sets()) {
    const Json& made = At(sets, set.name);
    if (made.is_null()) continue;
    table.AddRow({"text to tokens: " + set.title, Count(CountAt(made, "tokens")),
                  Bytes(CountAt(made, "bytes")), Duration(NumberAt(made, "seconds")),
                  PerSecond(NumberAt(made, "tokens"), NumberAt(made, "seconds"))});
  }
  if (const Json& train = page->result("train"); !train.is_null()) {
    const double learned = NumberAt(train, "learned/tokens") * NumberAt(train, "passes");
    table.AddRow({"training", std::isnan(learned) ? "–" : Count(std::llround(learned)),
                  Bytes(CountAt(train, "model_bytes")),
                  Duration(NumberAt(train, "training_seconds")),
                  PerSecond(learned, NumberAt(train, "training_seconds"))});
  }
  if (const Json& memory = page->result("memorize"); !memory.is_null()) {
    const double rows = NumberAt(memory, "rows"), bytes = NumberAt(memory, "bytes");
    table.AddRow({"memory: " + NumberText(bytes / rows, 1) + " bytes per token",
                  Count(CountAt(memory, "rows")), Bytes(CountAt(memory, "bytes")),
                  Duration(NumberAt(memory, "seconds")),
                  PerSecond(NumberAt(memory, "made_rows"), NumberAt(memory, "seconds"))});
  }
  if (const Json& index = page->result("index"); !index.is_null()) {
    table.AddRow({"index: " + Count(CountAt(index, "lists")) + " lists",
                  Count(CountAt(page->result("memorize"), "rows")), Bytes(CountAt(index, "bytes")),
                  Duration(NumberAt(index, "seconds")), "–"});
  }
  if (const Json& tune = page->result("tune"); !tune.is_null()) {
    table.AddRow({"tuning: search and grid", Count(CountAt(tune, "rows")), "–",
                  Duration(NumberAt(tune, "search_seconds") + NumberAt(tune, "grid_seconds")),
                  "–"});
  }
  for (const TextSet& set : workspace.sets()) {
    const Json& result = page->result("eval-" + set.name);
    if (result.is_null()) continue;
    const Json& cost = At(result, "cost");
    table.AddRow({"evaluation: " + set.title + " (model " +
                      Duration(NumberAt(cost, "model_seconds")) + ", search " +
                      Duration(NumberAt(cost, "search_seconds")) + ", scores " +
                      Duration(NumberAt(cost, "score_seconds")) + ")",
                  Count(CountAt(result, "at/paper/rows")), "–", Duration(NumberAt(cost, "seconds")),
                  PerSecond(NumberAt(result, "at/paper/rows"), NumberAt(cost, "seconds"))});
  }
  page->Add(table);
  const Json& memory = page->result("memorize");
  if (memory.is_null()) return;
  page->Paragraph(
      "A row of the memory: a " + TextAt(memory, "key_type") + " key of " +
      Count(CountAt(memory, "dim")) + " values and the " + Count(CountAt(memory, "top")) +
      " largest residuals; " + ShareText(NumberAt(memory, "dropped_mass")) +
      " of the residuals' mass was dropped. It holds " + Count(CountAt(memory, "documents")) +
      " of " + Count(CountAt(memory, "of_documents")) + " documents of the training text, " +
      Count(CountAt(memory, "rows")) + " of " + Count(CountAt(memory, "of_rows")) + " tokens; " +
      LearnedText(page->result("train"), CountAt(memory, "documents")));
}

void AddExamples(Page* page) {
  if (!page->Begin("Examples", "examples")) return;
  const Json& result = page->result("examples");
  page->Paragraph("The rule: " + TextAt(result, "rule") + ". " +
                  ParametersText(At(result, "parameters")) + ", " + Count(CountAt(result, "rows")) +
                  " tokens of the held-out Wikipedia.");
  for (const Json& example : At(result, "examples")) {
    page->Paragraph(std::string(At(example, "fixed") == true ? "**Fixed**" : "**Harmed**") + " (" +
                    Cell(TextAt(example, "title")) + "): … " + Cell(TextAt(example, "context")) +
                    " → **" + Cell(TextAt(example, "truth")) + "**; base " +
                    Cell(TextAt(example, "base")) + ", ResMem " + Cell(TextAt(example, "resmem")) +
                    "; score of the true token " + NumberText(NumberAt(example, "base_score"), 3) +
                    " → " + NumberText(NumberAt(example, "resmem_score"), 3) + ".");
    Table table = Table::OfNumbers({"neighbor", "next", "weight", "in"}, 3);
    for (const Json& neighbor : At(example, "neighbors")) {
      table.AddRow({"… " + Cell(TextAt(neighbor, "context")), Cell(TextAt(neighbor, "next")),
                    NumberText(NumberAt(neighbor, "weight"), 3), Cell(TextAt(neighbor, "title"))});
    }
    page->Add(table);
  }
}

}  // namespace resmem::cli::reproduce::lm
