// resmem reproduce cifar100: the experiments of the paper on real CIFAR-100, step by step.
#include <algorithm>

#include "command.h"
#include "console/format.h"
#include "console/output.h"
#include "console/table.h"
#include "inputs/dataset_options.h"
#include "inputs/runtime_options.h"
#include "reproduce/page/page.h"
#include "reproduce/step_selection.h"
#include "reproduce/steps.h"
#include "reproduce/training_run.h"

namespace resmem::cli {
namespace {

using reproduce::RunStep;
using reproduce::Step;
using reproduce::StepRecords;
using reproduce::StepState;
using reproduce::Workspace;

class Reproduce : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Status CheckOptions();
  Status List(const Workspace& workspace, std::span<const Step> steps,
              const StepRecords& records) const;
  Status RunAll(const std::vector<const Step*>& selected, const std::vector<const Step*>& redo,
                Workspace& workspace, StepRecords* records) const;

  reproduce::WorkspaceOptions options_;
  std::string output_;
  std::vector<std::string> steps_, redo_;
  bool list_ = false;
};

void Reproduce::Declare(CommandLine& line) {
  line.About("the paper's experiments on real CIFAR-100",
             "Trains the networks, measures base, baselines and ResMem, and writes a page with "
             "our figures beside the paper's: docs/results/cifar100.md in --output, with plots "
             "and the JSON it was made from. Each step's result is kept; a step that is finished "
             "is not repeated, and a training run goes on where it was stopped "
             "(docs/reproduce.md).");
  line.Group("Input");
  line.Value("--data", &options_.data, "FOLDER",
             "CIFAR-100: train.bin and test.bin, also as .xz or .gz")
      .Required()
      .Folder();
  line.Value("--pretrained", &options_.pretrained, "FILE.onnx",
             "a network from elsewhere, for the step pretrained-resnet20")
      .File();
  line.Group("Steps");
  line.Flag("--list", &list_, "show the steps, which are finished and how long each takes");
  line.Value("--steps", &steps_, "LIST",
             "only these; NAME... for all that begin so; all: also those that are off by default");
  line.Value("--redo", &redo_, "LIST",
             "repeat these though they are finished; without --steps nothing else is run");
  line.Flag("--quick", &options_.quick,
            "a rehearsal: the first 400 pictures, two epochs; its numbers mean nothing");
  line.Group("Output");
  line.Value("--work", &options_.folder, "FOLDER", "runs, arrays, memories and results of steps")
      .Folder()
      .Default("reproduce-cifar100; with --quick reproduce-cifar100-quick");
  line.Value("--output", &output_, "FOLDER", "where docs/results/cifar100.md is written")
      .Folder()
      .Default("this folder; with --quick the work folder");
  line.Group("Running");
  line.Value("--training-threads", &options_.training_threads, "N",
             "threads of a training run; 0: as many as the machine has");
  DeclareRuntime(line, &options_.runtime);
  DeclareThreads(line, &options_.runtime.threads);
  line.AddExample("everything, some twelve hours", "resmem reproduce cifar100 --data cifar100");
  line.AddExample("one network and what can be learned from it",
                  "resmem reproduce cifar100 --data cifar100 \\\n"
                  "    --steps short-resnet8-seed1,sensitivity,coarse,calibration,shift");
  line.AddExample("does it work here?", "resmem reproduce cifar100 --data cifar100 --quick");
}

Status Reproduce::CheckOptions() {
  if (options_.folder.empty()) {
    options_.folder = options_.quick ? "reproduce-cifar100-quick" : "reproduce-cifar100";
  }
  if (output_.empty()) output_ = options_.quick ? options_.folder : ".";
  constexpr int64_t kMostThreads = 1024;
  if (options_.training_threads >= 0 && options_.training_threads <= kMostThreads) return {};
  return Status(ErrorCode::kInvalidArgument,
                "--training-threads: " + std::to_string(options_.training_threads) +
                    " is not from 0 to " + std::to_string(kMostThreads));
}

Status Reproduce::List(const Workspace& workspace, std::span<const Step> steps,
                       const StepRecords& records) const {
  Table table({{"step", Table::Align::kLeft},
               {"state", Table::Align::kLeft},
               {"about"},
               {"", Table::Align::kLeft}});
  for (const Step& step : steps) {
    std::string state = StepStateName(records.state(step.name));
    const int64_t epoch = reproduce::CountAt(reproduce::LastEpoch(workspace, step.name), "epoch");
    if (records.state(step.name) == StepState::kMissing && epoch > 0) {
      state = "after epoch " + Count(epoch);
    }
    if (records.state(step.name) == StepState::kMissing && !step.by_default) state += ", off";
    table.AddRow({step.name, state, Duration(step.seconds), step.title});
  }
  return PrintResult(table.Text());
}

Status Reproduce::RunAll(const std::vector<const Step*>& selected,
                         const std::vector<const Step*>& redo, Workspace& workspace,
                         StepRecords* records) const {
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
    Console& console = workspace.console();
    console.Note(step->name + ": " + step->title + "  (about " + Duration(left) + " left)");
    const double begin = console.SecondsSinceStart();
    RESMEM_RETURN_IF_ERROR(RunStep(*step, workspace, records));
    console.Note(step->name + ": done in " + Duration(console.SecondsSinceStart() - begin));
    left -= step->seconds;
  }
  return {};
}

Result<ExitCode> Reproduce::Run(Console& console) {
  RESMEM_RETURN_IF_ERROR(CheckOptions());
  RESMEM_ASSIGN_OR_RETURN(Workspace workspace, Workspace::Open(options_, console));
  const std::vector<Step> steps = ListSteps(workspace);
  RESMEM_ASSIGN_OR_RETURN(StepRecords records, StepRecords::Open(options_.folder + "/steps", steps,
                                                                 workspace.data_digest()));
  RESMEM_ASSIGN_OR_RETURN(std::vector<const Step*> selected, SelectSteps(steps, steps_));
  std::vector<const Step*> redo;
  if (!redo_.empty()) {
    RESMEM_ASSIGN_OR_RETURN(redo, SelectSteps(steps, redo_));
    if (steps_.empty()) selected = redo;
  }
  if (list_) {
    RESMEM_RETURN_IF_ERROR(List(workspace, steps, records));
    return ExitCode::kOk;
  }
  const Status worked = RunAll(selected, redo, workspace, &records);
  // What is finished is worth a page, also where a later step failed.
  RESMEM_ASSIGN_OR_RETURN(const std::string page,
                          reproduce::WritePage(output_, workspace, steps, records));
  console.Note("wrote " + page);
  RESMEM_RETURN_IF_ERROR(worked);
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeReproduce() {
  return std::make_unique<Reproduce>();
}

}  // namespace resmem::cli
