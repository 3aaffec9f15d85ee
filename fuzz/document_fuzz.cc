// libFuzzer's entry for the documents of results: what renders a page of them, or joins them, reads
// them as a stranger's.
#include "fuzz/target.h"
#include "report/sample.h"
#include "resmem/report/report.h"

namespace resmem {
namespace {

// A page of it, and no tag of a name in the page.
Status Render(std::string_view input) {
  const auto page = RenderReport(input);
  if (!page.ok()) return page.status();
  Require(page->find("</html>") != std::string::npos);
  Require(page->find("<script") == std::string::npos);
  return {};
}

// Joined with another, and what came of it rendered.
Status Combine(std::string_view input) {
  static const std::string kOther = MemoryJson(*sample::Run().memory, sample::Run());
  const std::string documents[] = {std::string(input), kOther};
  const auto both = CombineJson("<b>", documents);
  return both.ok() ? RenderReport(*both).status() : both.status();
}

}  // namespace

std::vector<Kind> Kinds() {
  const RunInfo run = sample::Run();
  const std::vector<std::string> names = sample::ClassNames();
  const std::string memory = MemoryJson(*run.memory, run);
  return {
      {"evaluation", EvaluationJson(sample::Classification(), run), Render},
      {"regression", EvaluationJson(sample::Regression(), run), Render},
      {"tuning", TuningJson(sample::ClassificationTuning(), run), Render},
      {"values", TuningJson(sample::RegressionTuning(), run), Render},
      {"examples", ExamplesJson(sample::TextExamples(), "rule", names, run), Render},
      {"ledger", ExplanationJson(sample::ImageExamples().front().explanation, names, run), Render},
      {"figures", FiguresJson("Figures", sample::Figures(), run), Render},
      {"simulation", SimulationJson(sample::Simulation(), run), Render},
      {"memory", memory, Render},
      {"joined", memory, Combine}};
}

}  // namespace resmem
