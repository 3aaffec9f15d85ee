#include "reproduce/page/page.h"

#include <cmath>
#include <filesystem>

#include "console/output.h"
#include "reproduce/page/sections.h"

namespace resmem::cli::reproduce {
namespace {

namespace fs = std::filesystem;

constexpr char kName[] = "cifar100";

Status WriteText(const std::string& path, const std::string& text) {
  RESMEM_ASSIGN_OR_RETURN(Output file, Output::File(path));
  RESMEM_RETURN_IF_ERROR(file.Write(text));
  return file.Close();
}

std::string PageText(std::span<const Step> steps, const StepRecords& records, Page* page) {
  std::string text = "# The paper's experiments on CIFAR-100\n\n";
  text +=
      "Written by `resmem reproduce cifar100` from the results of its steps; nothing here is typed "
      "by hand. How to run it: docs/reproduce.md. Gains are in percentage points of accuracy, "
      "intervals are 95 %; the test pictures choose nothing unless a line says so.\n\n";
  if (page->quick()) {
    text +=
        "**A rehearsal (`--quick`) on a few hundred pictures and two epochs: the numbers mean "
        "nothing.**\n\n";
  }
  AddSummary(page);
  AddPaperRun(page);
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
  AddSteps(steps, records, page);
  return text + page->text();
}

}  // namespace

bool Page::Begin(const std::string& title, const std::string& step) {
  Heading(title);
  switch (records_.state(step)) {
    case StepState::kMissing:
      Paragraph("Not run yet: step `" + step + "`.");
      return false;
    case StepState::kOutOfDate:
      Paragraph("Out of date: something that step `" + step +
                "` depends on has changed since; it will be run again.");
      return true;
    case StepState::kFinished:
      return true;
  }
  return true;
}

void Page::AddFigure(const std::string& name, const Figure& figure) {
  text_ += "![" + figure.title + "](" + kName + "/" + name + ".svg)\n\n";
  figures_.emplace_back(name, figure);
}

Result<std::string> WritePage(const std::string& output, const Workspace& workspace,
                              std::span<const Step> steps, const StepRecords& records) {
  const fs::path folder = fs::path(output) / "docs" / "results";
  std::error_code error;
  fs::create_directories(folder / kName, error);
  if (error) {
    return Status(ErrorCode::kIo, folder.string() + " cannot be made: " + error.message());
  }
  Page page(records, workspace.options().quick);
  const std::string text = PageText(steps, records, &page);
  Json json = {{"schema", "resmem.reproduction.v1"},
               {"data", workspace.data_digest()},
               {"quick", workspace.options().quick},
               {"steps", Json::object()}};
  for (const Step& step : steps) {
    if (records.record(step.name).is_null()) continue;
    json["steps"][step.name] = records.record(step.name);
    json["steps"][step.name]["state"] = StepStateName(records.state(step.name));
  }
  const std::string path = (folder / kName).string();
  for (const auto& [name, figure] : page.figures()) {
    RESMEM_RETURN_IF_ERROR(WriteText(path + "/" + name + ".svg", FigureSvg(figure)));
  }
  RESMEM_RETURN_IF_ERROR(WriteJson(path + ".json", json));
  RESMEM_RETURN_IF_ERROR(WriteText(path + ".md", text));
  return path + ".md";
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

CurvePoint PointOf(double x, const Json& value) {
  return {x, NumberAt(value, "value"), IntervalAt(value, "")};
}

}  // namespace resmem::cli::reproduce
