// resmem reproduce lm: the paper's experiments on language models, on real text, step by step.
#include "console/command.h"
#include "inputs/dataset_options.h"
#include "inputs/images/runtime_options.h"
#include "reproduce/lm/page.h"
#include "reproduce/lm/steps.h"
#include "reproduce/run_steps.h"

namespace resmem::cli {
namespace {

namespace lm = reproduce::lm;

class ReproduceLm : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Status CheckOptions();

  lm::WorkspaceOptions options_;
  reproduce::StepOptions steps_;
  std::string output_;
};

void ReproduceLm::Declare(CommandLine& line) {
  line.About(
      "the paper's experiments on language models, on real text",
      "Trains a decoder-only T5 on Wikipedia, memorizes its training tokens, and measures base, "
      "k-NN, kNN-LM and ResMem on held-out text. Writes docs/results/lm.md in --output, which "
      "compares our figures with the paper's, with plots and the underlying JSON. Finished steps "
      "are kept and not repeated; an interrupted step continues where it can (docs/reproduce.md).");
  line.Group("Input");
  line.Value("--data", &options_.data, "FOLDER",
             "folder with t5-tokenizer/, enwiki2015/ and optionally wikitext-valid-test/ and "
             "c4-sample/")
      .Required()
      .Folder();
  line.Value("--run", &options_.run, "FOLDER", "use this finished run of resmem lm train")
      .Default("train one")
      .Folder();
  line.Value("--network", &options_.network, "NAME", "network to train, as in resmem lm train");
  steps_.Declare(line);
  line.Flag("--quick", &options_.quick,
            "a rehearsal: a tiny model, few documents; its numbers mean nothing");
  line.Group("Sizes in tokens (rounded up to whole documents, taken from the first on)");
  line.Value("--tokens-kept", &options_.tokens_kept, "N", "training tokens in the memory");
  line.Value("--tune-tokens", &options_.tune_tokens, "N",
             "validation tokens; tuning holds the logits of all of them in RAM");
  line.Value("--eval-tokens", &options_.eval_tokens, "N", "test tokens of each text; 0: all");
  line.Value("--exact-tokens", &options_.exact_tokens, "N",
             "test tokens for which every key is searched; 0: all");
  line.Value("--recall", &options_.recall, "SHARE", "recall of the approximate index");
  line.Group("Output");
  line.Value("--work", &options_.folder, "FOLDER",
             "folder for tokens, run, memory and step results")
      .Folder()
      .Default("reproduce-lm; with --quick reproduce-lm-quick");
  line.Value("--output", &output_, "FOLDER", "where docs/results/lm.md is written")
      .Folder()
      .Default("this folder; with --quick the work folder");
  line.Group("Running");
  DeclareRuntime(line, &options_.runtime);
  DeclareThreads(line, &options_.runtime.threads);
  line.AddExample("everything, an evening on two cores", "resmem reproduce lm --data data");
  line.AddExample("with an existing model",
                  "resmem reproduce lm --data data --run runs/t5 --tokens-kept 20000000");
  line.AddExample("does it work here?", "resmem reproduce lm --data data --quick");
}

Status ReproduceLm::CheckOptions() {
  if (options_.folder.empty()) {
    options_.folder = options_.quick ? "reproduce-lm-quick" : "reproduce-lm";
  }
  if (output_.empty()) output_ = options_.quick ? options_.folder : ".";
  if (options_.quick) {
    options_.tokens_kept = std::min<int64_t>(options_.tokens_kept, 10'000);
    options_.tune_tokens = std::min<int64_t>(options_.tune_tokens, 500);
    options_.eval_tokens = options_.exact_tokens = 1000;
  }
  if (options_.tokens_kept < 1 || options_.tune_tokens < 1 || options_.eval_tokens < 0 ||
      options_.exact_tokens < 0) {
    return Status(ErrorCode::kInvalidArgument,
                  "--tokens-kept and --tune-tokens must be 1 or more, --eval-tokens and "
                  "--exact-tokens 0 or more");
  }
  return {};
}

Result<ExitCode> ReproduceLm::Run(Console& console) {
  RESMEM_RETURN_IF_ERROR(CheckOptions());
  RESMEM_ASSIGN_OR_RETURN(lm::Workspace workspace, lm::Workspace::Open(options_, console));
  reproduce::Reproduction reproduction;
  reproduction.name = "lm";
  reproduction.work = options_.folder;
  reproduction.output = output_;
  reproduction.data = workspace.data_digest();
  reproduction.quick = options_.quick;
  reproduction.disk_bytes = 13e9;  // docs/reproduce.md
  reproduction.steps = lm::ListSteps(workspace);
  reproduction.write_page = [&](reproduce::Page* page) {
    lm::WritePage(workspace, reproduction.steps, page);
  };
  return RunSteps(reproduction, steps_, console);
}

}  // namespace

std::unique_ptr<Command> MakeReproduceLm() {
  return std::make_unique<ReproduceLm>();
}

}  // namespace resmem::cli
