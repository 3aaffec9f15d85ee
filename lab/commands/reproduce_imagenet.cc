// resmem reproduce imagenet: the paper's table of MobileNet-V2 on ImageNet, or on a part of it.
#include "console/command.h"
#include "inputs/dataset_options.h"
#include "inputs/images/runtime_options.h"
#include "reproduce/imagenet/steps.h"
#include "reproduce/run_steps.h"

namespace resmem::cli {
namespace {

namespace imagenet = reproduce::imagenet;

class ReproduceImageNet : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  imagenet::WorkspaceOptions options_;
  reproduce::StepOptions steps_;
  std::string output_;
};

void ReproduceImageNet::Declare(CommandLine& line) {
  line.About("the paper's table of MobileNet-V2 on ImageNet",
             "Embeds photos with networks that you have as ONNX files, and measures base, k-NN, "
             "ResMem and blend on photos that nothing has chosen on, with controls that tell the "
             "memory's effect from the effect of the photos' resolution. Writes "
             "docs/results/imagenet.md in --output. Finished steps are kept and not repeated "
             "(docs/reproduce.md).");
  line.Group("Input");
  line.Value("--data", &options_.data, "FOLDER",
             "ImageNet, or a part of it: train/CLASS/*.JPEG, and val or ilsvrc-val")
      .Required()
      .Folder();
  line.Value("--models", &options_.models, "LIST",
             "networks as NAME=FILE.onnx, such as 0.35=small.onnx,1.0=large.onnx")
      .Required();
  line.Value("--input-mean", &options_.mean, "LIST",
             "subtracted from pixel / 255, for a file without manifest");
  line.Value("--input-std", &options_.deviation, "LIST", "then divides");
  line.Value("--classes", &options_.classes, "FILE",
             "\"CLASS OUTPUT\" a line: the folders that count, and the network's outputs for them")
      .File()
      .Default("DATA/classes.txt; if it is not there, the folders of train by name");
  line.Value("--tune", &options_.tune, "FOLDER", "photos that choose k, sigma and T")
      .Folder()
      .Default("DATA/val if others judge, else a tenth of each class of train");
  line.Value("--judge", &options_.judge, "FOLDER", "photos that judge")
      .Folder()
      .Default("DATA/ilsvrc-val, else DATA/val");
  line.Value("--judge-list", &options_.judge_list, "FILE",
             "\"PHOTO CLASS\" a line, where these photos are not in folders of classes")
      .File()
      .Default("val_annotations.txt or LOC_val_solution.csv");
  line.Value("--per-class", &options_.per_class, "N", "photos of a class in the memory; 0: all");
  line.Value("--reduce", &options_.reduce, "PIXELS",
             "judge also on photos reduced to this side, in two ways; 0: do not");
  steps_.Declare(line);
  line.Group("Output");
  line.Value("--work", &options_.folder, "FOLDER",
             "folder for models, arrays, memories and step results")
      .Folder()
      .Default("reproduce-imagenet");
  line.Value("--output", &output_, "FOLDER", "where docs/results/imagenet.md is written")
      .Folder()
      .Default("this folder");
  line.Group("Running");
  DeclareRuntime(line, &options_.runtime);
  DeclareThreads(line, &options_.runtime.threads);
  line.AddExample("two networks on ImageNet",
                  "resmem reproduce imagenet --data ILSVRC/Data/CLS-LOC \\\n"
                  "    --models 0.35=a035.onnx,1.0=a100.onnx");
  line.AddExample("photos of 64 pixels in the memory",
                  "resmem reproduce imagenet --data tiny-imagenet --reduce 64 \\\n"
                  "    --models 0.35=a035.onnx");
}

Result<ExitCode> ReproduceImageNet::Run(Console& console) {
  constexpr int64_t kMostSide = 4096;
  if (options_.reduce < 0 || options_.reduce > kMostSide || options_.per_class < 0) {
    return Status(
        ErrorCode::kInvalidArgument,
        "--reduce must be from 0 to " + std::to_string(kMostSide) + ", --per-class 0 or more");
  }
  if (options_.folder.empty()) options_.folder = "reproduce-imagenet";
  if (output_.empty()) output_ = ".";
  RESMEM_ASSIGN_OR_RETURN(imagenet::Workspace workspace,
                          imagenet::Workspace::Open(options_, console));
  reproduce::Reproduction reproduction;
  reproduction.name = "imagenet";
  reproduction.work = options_.folder;
  reproduction.output = output_;
  reproduction.data = workspace.data_digest();
  reproduction.steps = imagenet::ListSteps(workspace);
  reproduction.write_page = [&](reproduce::Page* page) {
    imagenet::WritePage(workspace, reproduction.steps, page);
  };
  return RunSteps(reproduction, steps_, console);
}

}  // namespace

std::unique_ptr<Command> MakeReproduceImageNet() {
  return std::make_unique<ReproduceImageNet>();
}

}  // namespace resmem::cli
