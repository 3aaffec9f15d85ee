#include "reproduce/page/page.h"

#include <filesystem>

#include "console/format.h"
#include "console/output.h"

namespace resmem::cli::reproduce {
namespace {

namespace fs = std::filesystem;

Status WriteText(const std::string& path, const std::string& text) {
  RESMEM_ASSIGN_OR_RETURN(Output file, Output::File(path));
  RESMEM_RETURN_IF_ERROR(file.Write(text));
  return file.Close();
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
  text_ += "![" + figure.title + "](" + name_ + "/" + name + ".svg)\n\n";
  figures_.emplace_back(name, figure);
}

void Page::AddSteps(std::span<const Step> steps) {
  Heading("What was run");
  Table table =
      Table::OfNumbers({"step", "state", "started (UTC)", "took", "commit", "machine"}, 5);
  for (const Step& step : steps) {
    const Json& made = At(records_.record(step.name), "made");
    if (made.is_null()) {
      table.AddRow(
          {step.name, step.by_default ? "not run" : "not run, off by default", "–", "–", "–", "–"});
      continue;
    }
    table.AddRow({step.name, StepStateName(records_.state(step.name)), TextAt(made, "started"),
                  Duration(NumberAt(made, "seconds")), TextAt(made, "commit"),
                  TextAt(made, "processor") + ", " + Counted(CountAt(made, "cores"), "core") +
                      ", " + TextAt(made, "simd")});
  }
  Add(table);
}

Result<std::string> WritePage(const std::string& output, const Page& page, const Json& header,
                              std::span<const Step> steps, const StepRecords& records) {
  const fs::path folder = fs::path(output) / "docs" / "results";
  std::error_code error;
  fs::create_directories(folder / page.name(), error);
  if (error) {
    return Status(ErrorCode::kIo, folder.string() + " cannot be made: " + error.message());
  }
  Json json = {{"schema", "resmem.reproduction.v1"}};
  json.update(header);
  json["steps"] = Json::object();
  for (const Step& step : steps) {
    if (records.record(step.name).is_null()) continue;
    json["steps"][step.name] = records.record(step.name);
    json["steps"][step.name]["state"] = StepStateName(records.state(step.name));
  }
  const std::string path = (folder / page.name()).string();
  for (const auto& [name, figure] : page.figures()) {
    RESMEM_RETURN_IF_ERROR(WriteText(path + "/" + name + ".svg", FigureSvg(figure)));
  }
  RESMEM_RETURN_IF_ERROR(WriteJson(path + ".json", json));
  RESMEM_RETURN_IF_ERROR(WriteText(path + ".md", page.text()));
  return path + ".md";
}

CurvePoint PointOf(double x, const Json& value) {
  return {x, NumberAt(value, "value"), IntervalAt(value, "")};
}

}  // namespace resmem::cli::reproduce
