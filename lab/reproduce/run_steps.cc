#include "reproduce/run_steps.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "console/format.h"
#include "console/output.h"
#include "process/commit.h"
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

// The pages of a reproduction, and what stands on them from elsewhere.
class Pages {
 public:
  static Result<Pages> Open(const Reproduction& reproduction) {
    Pages pages(reproduction);
    for (const auto& [name, write] : pages.writers_) {
      RESMEM_ASSIGN_OR_RETURN(const Json records,
                              PublishedRecords(reproduction.output, name, pages.header_));
      for (const auto& [step, record] : records.items()) {
        if (!pages.published_.contains(step)) pages.published_[step] = record;
      }
    }
    return pages;
  }

  const Reproduction& reproduction() const { return reproduction_; }
  StepRecords Shown(const StepRecords& records) const { return records.With(published_); }

  Status Write(const StepRecords& records, std::vector<std::string>* paths = nullptr) const {
    const StepRecords shown = Shown(records);
    for (const auto& [name, write] : writers_) {
      Page page(name, shown);
      write(&page);
      RESMEM_ASSIGN_OR_RETURN(const std::string path, WritePage(reproduction_.output, page, header_,
                                                                reproduction_.steps, shown));
      if (paths != nullptr) paths->push_back(path);
    }
    return {};
  }

 private:
  explicit Pages(const Reproduction& reproduction)
      : reproduction_(reproduction),
        header_({{"data", reproduction.data}, {"quick", reproduction.quick}}),
        writers_(reproduction.more_pages) {
    writers_.emplace(writers_.begin(), reproduction.name, reproduction.write_page);
  }

  const Reproduction& reproduction_;
  Json header_, published_ = Json::object();
  std::vector<std::pair<std::string, std::function<void(Page*)>>> writers_;
};

// How long steps take here, as a multiple of Step::seconds: by those that this folder has finished.
struct Pace {
  double factor = 1;
  int64_t steps = 0;  // that it was measured on; 0: it was not
};

Pace MeasurePace(const Reproduction& reproduction, const StepRecords& records) {
  constexpr double kWorthMeasuring = 0.5;  // seconds
  double took = 0, expected = 0;
  Pace pace;
  for (const Step& step : reproduction.steps) {
    const double seconds = NumberAt(records.record(step.name), "made/seconds");
    const bool finished = records.state(step.name) == StepState::kFinished;
    if (!finished || !(seconds >= kWorthMeasuring) || !(step.seconds > 0)) continue;
    took += seconds;
    expected += step.seconds;
    ++pace.steps;
  }
  if (pace.steps > 0) pace.factor = took / expected;
  return pace;
}

std::string PaceText(const Pace& pace) {
  if (pace.steps == 0) {
    return "times are of the machine of docs/reproduce.md; once a step has finished here, they are "
           "of this one\n";
  }
  return "times are " + Fixed(pace.factor, 2) + " of docs/reproduce.md's, as " +
         Counted(pace.steps, "step") + " took here\n";
}

// Empty where the work folder's file system does not tell.
std::string DiskText(const Reproduction& reproduction, bool* enough) {
  *enough = true;
  if (!(reproduction.disk_bytes > 0) || reproduction.quick) return "";
  std::filesystem::path folder = std::filesystem::absolute(reproduction.work);
  std::error_code error;
  while (!std::filesystem::exists(folder, error) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error) return "";
  *enough = static_cast<double>(space.available) > reproduction.disk_bytes;
  return reproduction.work + " takes about " +
         Bytes(static_cast<int64_t>(reproduction.disk_bytes)) + " in the end; " +
         Bytes(static_cast<int64_t>(space.available)) + " are free there";
}

Status RunAll(const std::vector<const Step*>& selected, const std::vector<const Step*>& redo,
              const Pages& pages, Console& console, StepRecords* records) {
  const auto to_run = [&](const Step* step) {
    return records->state(step->name) != StepState::kFinished ||
           std::find(redo.begin(), redo.end(), step) != redo.end();
  };
  double left = 0;
  for (const Step* step : selected) {
    if (to_run(step)) left += step->seconds;
  }
  bool enough = true;
  const std::string disk = DiskText(pages.reproduction(), &enough);
  if (!enough) console.Warn(disk);
  for (const Step* step : selected) {
    if (!to_run(step)) continue;
    const double factor = MeasurePace(pages.reproduction(), *records).factor;
    console.Note(step->name + ": " + step->title + "  (about " + Duration(left * factor) +
                 " left)");
    const double begin = console.SecondsSinceStart();
    RESMEM_RETURN_IF_ERROR(RunStep(*step, console, records));
    RESMEM_RETURN_IF_ERROR(pages.Write(*records));
    console.Note(step->name + ": done in " + Duration(console.SecondsSinceStart() - begin));
    left -= step->seconds;
  }
  return {};
}

Status PrintList(const Reproduction& reproduction, const Pages& pages, const StepRecords& records) {
  const StepRecords shown = pages.Shown(records);
  Table table({{"step", Table::Align::kLeft},
               {"state", Table::Align::kLeft},
               {"about"},
               {"took"},
               {"", Table::Align::kLeft}});
  const Pace pace = MeasurePace(reproduction, records);
  for (const Step& step : reproduction.steps) {
    std::string state = StepStateName(records.state(step.name));
    if (records.state(step.name) == StepState::kMissing) {
      const std::string far = reproduction.how_far ? reproduction.how_far(step) : "";
      if (!far.empty()) state = far;
      if (!step.by_default) state += ", off";
    }
    if (shown.is_published(step.name)) {
      const std::string day = TextAt(shown.record(step.name), "made/started").substr(0, 10);
      state += day.empty() ? "; on the page" : "; on the page, of " + day;
    }
    const double took = NumberAt(records.record(step.name), "made/seconds");
    table.AddRow({step.name, state, Duration(step.seconds * pace.factor),
                  took >= 0 ? Duration(took) : "", step.title});
  }
  bool enough = true;
  const std::string disk = DiskText(reproduction, &enough);
  return PrintResult(table.Text() + PaceText(pace) + (disk.empty() ? "" : disk + "\n"));
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
  RESMEM_ASSIGN_OR_RETURN(const Pages pages, Pages::Open(reproduction));
  if (options.list) {
    RESMEM_RETURN_IF_ERROR(PrintList(reproduction, pages, records));
    return ExitCode::kOk;
  }
  const Status worked = RunAll(selected, redo, pages, console, &records);
  std::vector<std::string> paths;
  RESMEM_RETURN_IF_ERROR(pages.Write(records, &paths));
  for (const std::string& path : paths) console.Note("wrote " + path);
  RESMEM_RETURN_IF_ERROR(worked);
  return ExitCode::kOk;
}

}  // namespace resmem::cli::reproduce
