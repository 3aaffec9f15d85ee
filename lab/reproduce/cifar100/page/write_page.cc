#include <cmath>

#include "reproduce/cifar100/page/sections.h"

namespace resmem::cli::reproduce::cifar100 {

void WritePage(std::span<const Step> steps, bool quick, Page* page) {
  page->Title("The paper's experiments on CIFAR-100");
  page->Paragraph(
      "Written by `resmem reproduce cifar100` from the results of its steps; nothing here is typed "
      "by hand. How to run it: docs/reproduce.md. Gains are in percentage points of accuracy, "
      "intervals are 95 %; the test images choose nothing unless a line says so.");
  if (quick) {
    page->Paragraph(
        "**A rehearsal (`--quick`) on a few hundred images and two epochs: the numbers mean "
        "nothing.**");
  }
  AddSummary(page);
  AddPaperRun(page);
  AddLongRun(page);
  AddEpochs(page);
  AddSeeds(page);
  AddDepth(page);
  AddSizes(page);
  AddSensitivity(page);
  AddSuperclasses(page);
  AddCalibration(page);
  AddShift(page);
  AddLatency(page);
  AddPretrained(page);
  AddDiagnosis(page);
  page->AddSteps(steps);
  page->Paragraph(
      "A step that trains took only the rest of the time where its network was there "
      "already; the time of training is in each run's section and in the JSON, as are "
      "seeds, recipes and fingerprints.");
}

Spread SpreadOf(std::span<const double> values) {
  Spread spread;
  spread.count = std::ssize(values);
  if (values.empty()) return spread;
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  for (const double value : values) {
    spread.deviation += (value - spread.mean) * (value - spread.mean);
  }
  spread.deviation =
      values.size() < 2 ? 0 : std::sqrt(spread.deviation / static_cast<double>(values.size() - 1));
  return spread;
}

}  // namespace resmem::cli::reproduce::cifar100
