#include "reproduce/run_steps.h"

#include <algorithm>

#include "console/format.h"
#include "console/output.h"
#include "reproduce/commit.h"
#include "reproduce/step_records.h"
#include "reproduce/step_selection.h"
#include "resmem/report/report.h"

namespace resmem::cli::reproduce {
namespace {

// Runs a step and keeps its result.  kMismatch where another one must be run before.
Status RunStep(const Step& step, Console& console, StepRecords* records) {
  const std::string missing = records->Missing(step);
  if (!missing.empty()) return Status(ErrorCode::kMismatch, missing);
  const RunInfo run = DescribeRun(console.words());
  const double begin = console.SecondsSinceStart();
  RESMEM_ASSIGN_OR_RETURN(Json result, step.run({*records, records->BaseOf(step)}));
  Json made = {{"started", run.started},           {"seconds", console.SecondsSinceStart() - begin},
               {"processor", run.processor},       {"cores", run.cores},
               {"memory_bytes", run.memory_bytes}, {"simd", run.simd},
               {"version", run.version},           {"build", run.build},
               {"commit", BuiltFromCommit()}};
  return records->Finish(step, std::move(result), std::move(made));
}

Status RunAll(const std::vector<const Step*>& selected, const std::vector<const Step*>& redo,
              Console& console, StepRecords* records) {
  const auto to_run = [&](const Step* step) {
    return records->state(step->name) != StepState::kFinished ||
           std::find(redo.begin(), redo.end(), step) != redo.end();
  };
  double left = 0;
  for (const Step* step : selected) {
    if (to_run(step)) left += step->seconds;
  }
  for (const Step* step : selected) {
    if (!to_run(step)) continue;
    console.Note(step->name + ": " + step->title + "  (about " + Duration(left) + " left)");
    const double begin = console.SecondsSinceStart();
    RESMEM_RETURN_IF_ERROR(RunStep(*step, console, records));
    console.Note(step->name + ": done in " + Duration(console.SecondsSinceStart() - begin));
    left -= step->seconds;
  }
  return {};
}

Status PrintList(const Reproduction& reproduction, const StepRecords& records) {
  Table table({{"step", Table::Align::kLeft},
               {"state", Table::Align::kLeft},
               {"about"},
               {"", Table::Align::kLeft}});
  for (const Step& step : reproduction.steps) {
    std::string state = StepStateName(records.state(step.name));
    if (records.state(step.name) == StepState::kMissing) {
      const std::string far = reproduction.how_far ? reproduction.how_far(step) : "";
      if (!far.empty()) state = far;
      if (!step.by_default) state += ", off";
    }
    table.AddRow({step.name, state, Duration(step.seconds), step.title});
  }
  return PrintResult(table.Text());
}

}  // namespace

void StepOptions::Declare(CommandLine& line) {
  line.Group("Steps");
  line.Flag("--list", &list, "list the steps, which of them are finished, and how long each takes");
  line.Value(
      "--steps", &steps, "LIST",
      "run only these; NAME... selects all that begin so; all: also those that are off by default");
  line.Value("--redo", &redo, "LIST",
             "repeat these finished steps; without --steps nothing else is run");
}

Result<ExitCode> RunSteps(const Reproduction& reproduction, const StepOptions& options,
                          Console& console) {
  const std::vector<Step>& steps = reproduction.steps;
  RESMEM_ASSIGN_OR_RETURN(StepRecords records, StepRecords::Open(reproduction.work + "/steps",
                                                                 steps, reproduction.data));
  RESMEM_ASSIGN_OR_RETURN(std::vector<const Step*> selected, SelectSteps(steps, options.steps));
  std::vector<const Step*> redo;
  if (!options.redo.empty()) {
    RESMEM_ASSIGN_OR_RETURN(redo, SelectSteps(steps, options.redo));
    if (options.steps.empty()) selected = redo;
  }
  if (options.list) {
    RESMEM_RETURN_IF_ERROR(PrintList(reproduction, records));
    return ExitCode::kOk;
  }
  const Status worked = RunAll(selected, redo, console, &records);
  // What is finished is worth a page, also where a later step failed.
  std::vector<std::pair<std::string, std::function<void(Page*)>>> pages = reproduction.more_pages;
  pages.emplace(pages.begin(), reproduction.name, reproduction.write_page);
  for (const auto& [name, write] : pages) {
    Page page(name, records);
    write(&page);
    RESMEM_ASSIGN_OR_RETURN(
        const std::string path,
        WritePage(reproduction.output, page,
                  {{"data", reproduction.data}, {"quick", reproduction.quick}}, steps, records));
    console.Note("wrote " + path);
  }
  RESMEM_RETURN_IF_ERROR(worked);
  return ExitCode::kOk;
}

}  // namespace resmem::cli::reproduce
