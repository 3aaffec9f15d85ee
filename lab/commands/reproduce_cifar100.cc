// resmem reproduce cifar100: the experiments of the paper on real CIFAR-100, step by step.
#include "console/command.h"
#include "console/format.h"
#include "inputs/dataset_options.h"
#include "inputs/images/runtime_options.h"
#include "reproduce/cifar100/page/sections.h"
#include "reproduce/cifar100/steps.h"
#include "reproduce/cifar100/training_run.h"
#include "reproduce/run_steps.h"

namespace resmem::cli {
namespace {

namespace cifar100 = reproduce::cifar100;

class ReproduceCifar100 : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Status CheckOptions();

  cifar100::WorkspaceOptions options_;
  reproduce::StepOptions steps_;
  std::string output_;
};

void ReproduceCifar100::Declare(CommandLine& line) {
  line.About("the paper's experiments on real CIFAR-100",
             "Trains the networks, measures base, baselines and ResMem, and writes a page that "
             "compares our figures with the paper's: docs/results/cifar100.md in --output, with "
             "plots and the underlying JSON. Finished steps are kept and not repeated; an "
             "interrupted training run continues where it was (docs/reproduce.md).");
  line.Group("Input");
  line.Value("--data", &options_.data, "FOLDER",
             "CIFAR-100: train.bin and test.bin, also as .xz or .gz")
      .Required()
      .Folder();
  line.Value("--pretrained", &options_.pretrained, "FILE.onnx",
             "a network from elsewhere, for the step pretrained-resnet20")
      .File();
  steps_.Declare(line);
  line.Flag("--quick", &options_.quick,
            "a rehearsal: the first 400 images, two epochs; its numbers mean nothing");
  line.Group("Output");
  line.Value("--work", &options_.folder, "FOLDER",
             "folder for runs, arrays, memories and step results")
      .Folder()
      .Default("reproduce-cifar100; with --quick reproduce-cifar100-quick");
  line.Value("--output", &output_, "FOLDER", "where docs/results/cifar100.md is written")
      .Folder()
      .Default("this folder; with --quick the work folder");
  line.Group("Running");
  line.Value("--training-threads", &options_.training_threads, "N",
             "threads of a training run; 0: all");
  DeclareRuntime(line, &options_.runtime);
  DeclareThreads(line, &options_.runtime.threads);
  line.AddExample("everything, about twelve hours", "resmem reproduce cifar100 --data cifar100");
  line.AddExample("one network and the analyses of it",
                  "resmem reproduce cifar100 --data cifar100 \\\n"
                  "    --steps short-resnet8-seed1,sensitivity,coarse,calibration,shift");
  line.AddExample("does it work here?", "resmem reproduce cifar100 --data cifar100 --quick");
}

Status ReproduceCifar100::CheckOptions() {
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

Result<ExitCode> ReproduceCifar100::Run(Console& console) {
  RESMEM_RETURN_IF_ERROR(CheckOptions());
  RESMEM_ASSIGN_OR_RETURN(cifar100::Workspace workspace,
                          cifar100::Workspace::Open(options_, console));
  reproduce::Reproduction reproduction;
  reproduction.name = "cifar100";
  reproduction.work = options_.folder;
  reproduction.output = output_;
  reproduction.data = workspace.data_digest();
  reproduction.quick = options_.quick;
  reproduction.steps = cifar100::ListSteps(workspace);
  for (const reproduce::Step& step : reproduction.steps) {
    const bool network = step.by_default && step.name.find("-resnet") != std::string::npos;
    reproduction.disk_bytes += network ? 75e6 : 0;  // docs/reproduce.md
  }
  reproduction.how_far = [&](const reproduce::Step& step) {
    const int64_t epoch = reproduce::CountAt(cifar100::LastEpoch(workspace, step.name), "epoch");
    return epoch > 0 ? "after epoch " + Count(epoch) : std::string();
  };
  reproduction.write_page = [&](reproduce::Page* page) {
    cifar100::WritePage(reproduction.steps, options_.quick, page);
  };
  reproduction.more_pages.emplace_back("predictor", [&](reproduce::Page* page) {
    cifar100::WritePredictorPage(reproduction.steps, page);
  });
  return RunSteps(reproduction, steps_, console);
}

}  // namespace

std::unique_ptr<Command> MakeReproduceCifar100() {
  return std::make_unique<ReproduceCifar100>();
}

}  // namespace resmem::cli
