#include "reproduce/page/page.h"

#include <filesystem>

#include "console/format.h"
#include "console/output.h"
#include "resmem_program/system_error.h"

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
    const std::string kept = records_.is_published(step.name) ? "kept, " : "";
    table.AddRow({step.name, kept + StepStateName(records_.state(step.name)),
                  TextAt(made, "started"), Duration(NumberAt(made, "seconds")),
                  TextAt(made, "commit"),
                  TextAt(made, "processor") + ", " + Counted(CountAt(made, "cores"), "core") +
                      ", " + TextAt(made, "simd")});
  }
  Add(table);
}

Result<Json> PublishedRecords(const std::string& output, const std::string& name,
                              const Json& header) {
  const std::string path = (fs::path(output) / "docs" / "results" / (name + ".json")).string();
  if (!fs::exists(path)) return Json::object();
  RESMEM_ASSIGN_OR_RETURN(const Json published, ReadJson(path));
  for (const auto& [field, value] : header.items()) {
    if (At(published, field) == value) continue;
    return Status(ErrorCode::kMismatch,
                  path + " has " + field + " " + At(published, field).dump() + ", this run has " +
                      value.dump() +
                      "; its results would be lost: give another --output, or move it away");
  }
  const Json& steps = At(published, "steps");
  if (steps.is_object()) return steps;
  return Status(ErrorCode::kCorrupt,
                path + " has no steps, so it is not a page's; give another --output, or move it");
}

Result<std::string> WritePage(const std::string& output, const Page& page, const Json& header,
                              std::span<const Step> steps, const StepRecords& records) {
  const fs::path folder = fs::path(output) / "docs" / "results";
  std::error_code error;
  fs::create_directories(folder / page.name(), error);
  if (error) {
    return Status(CodeOfSystemError(error.value()),
                  folder.string() + " cannot be made: " + error.message());
  }
  Json json = {{"schema", "resmem.reproduction.v1"}};
  json.update(header);
  json["steps"] = Json::object();
  for (const Step& step : steps) {
    if (records.record(step.name).is_null()) continue;
    json["steps"][step.name] = records.record(step.name);
    json["steps"][step.name]["state"] = StepStateName(records.state(step.name));
  }
  for (const auto& [step, record] : records.records()) {
    if (!json["steps"].contains(step)) json["steps"][step] = record;
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
