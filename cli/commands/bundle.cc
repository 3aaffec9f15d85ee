// resmem bundle: a memory that carries its model.
#include "resmem/models/bundle.h"
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/images/model_bundle.h"
#include "inputs/memory_options.h"
#include "process/last_words.h"

namespace resmem::cli {
namespace {

class Bundle : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("put a memory's model into its folder, so that the folder is all that you deploy",
               "Copies the ONNX file and its manifest to MEMORY/bundle and has the memory remember "
               "them by that relative path. Copied to another machine, the memory predicts images "
               "there without --model. Every use compares the model with the fingerprint that the "
               "memory has of it.");
    DeclareMemory(line, &memory_path_);
    line.Value("--model", &model_, "FILE.onnx", "the base model that made the memory")
        .File()
        .Default("the one that the memory remembers");
    DeclareWait(line, &change_.wait_seconds);
    line.AddExample("a memory of images, to another machine",
                    "resmem bundle my.resmem && rsync -a my.resmem server:");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the model was bundled");
    if (model_.empty()) {
      RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                              ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
      model_ = RememberedModel(memory_path_, memory.description().notes);
      if (model_.empty()) {
        return Status(ErrorCode::kInvalidArgument,
                      memory_path_ + " does not remember a model; give --model FILE.onnx");
      }
    }
    change_.progress = console.progress();
    RESMEM_ASSIGN_OR_RETURN(const int64_t bytes, BundleModel(memory_path_, model_, change_));
    RESMEM_RETURN_IF_ERROR(PrintResult(bytes == 0 ? memory_path_ + " carries its model already\n"
                                                  : memory_path_ + " carries its model: " +
                                                        Bytes(bytes) + " of " + model_ + "\n"));
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_, model_;
  ChangeOptions change_;
};

}  // namespace

std::unique_ptr<Command> MakeBundle() {
  return std::make_unique<Bundle>();
}

}  // namespace resmem::cli
