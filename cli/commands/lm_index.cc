// resmem lm index: as resmem index, with the recall measured on text that the memory does not hold.
#include "console/command.h"
#include "console/next_step.h"
#include "inputs/memory_options.h"
#include "inputs/text/token_options.h"
#include "outputs/memory_output.h"
#include "outputs/memory_text.h"
#include "process/last_words.h"

namespace resmem::cli {
namespace {

class LmIndex : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "make token search faster for a recall on new text",
        "Like 'resmem index --data', with queries from held-out text: windows from all of it are "
        "run through the model, and 2,000 of their tokens are the queries. 'resmem index' without "
        "text measures on the memory's own tokens, so the recall on new text may be lower.");
    DeclareMemory(line, &memory_path_);
    line.Value("--tokens", &tokens_path_, "FILE", "held-out text from resmem lm tokens")
        .Required()
        .File();
    rows_.DeclareForMemory(line);
    line.Group("Index");
    line.Value("--recall", &options_.recall, "SHARE",
               "share of the true neighbors to find, above 0 and below 1");
    line.Value("--seed", &options_.seed, "N",
               "seed of the lists and of the sampled tokens; the same seed gives the same files");
    DeclareWait(line, &options_.wait_seconds);
    output_.Declare(line);
    line.Group("Model");
    model_.Declare(line);
    line.AddExample("nineteen of twenty neighbors",
                    "resmem lm index train.resmem --tokens valid.tokens --recall 0.95 --model "
                    "run/last.onnx");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the index was made");
    RESMEM_RETURN_IF_ERROR(CheckIndexOptions(options_, memory_path_));
    RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(tokens_path_));
    std::vector<float> keys;
    {
      // Closed before it is indexed again.
      RESMEM_ASSIGN_OR_RETURN(
          const ResidualMemory memory,
          ResidualMemory::Open(memory_path_, {.verify_blocks = false, .exact = true}));
      RESMEM_ASSIGN_OR_RETURN(const TokenModel model, model_.OpenFor(memory_path_, memory));
      RESMEM_ASSIGN_OR_RETURN(const TokenRows rows,
                              TokenRows::Make(model, set, rows_.ForMemory(memory)));
      RESMEM_ASSIGN_OR_RETURN(
          keys, SampleKeys(rows, IndexOptions::kMostQueries, options_.seed, console.progress()));
      const int64_t dim = model.manifest().dim;
      options_.queries = MatrixView(keys.data(), static_cast<int64_t>(keys.size()) / dim, dim);
    }
    options_.threads = model_.threads();
    options_.progress = console.progress();
    RESMEM_RETURN_IF_ERROR(IndexMemory(memory_path_, options_));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, {tokens_path_, model_.path()},
                                         memory_path_ + ": " + SearchText(memory) + "\n", console));
    SuggestNext({"lm", "eval", memory_path_, "--tokens", "TEST.tokens", "--model", model_.path()},
                console);
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_, tokens_path_;
  TokenModelOptions model_;
  TokenRowsChoice rows_;
  IndexOptions options_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeLmIndex() {
  return std::make_unique<LmIndex>();
}

}  // namespace resmem::cli
