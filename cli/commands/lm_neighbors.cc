// resmem lm neighbors: the nearest memorized contexts of every token of a text.
#include "console/command.h"
#include "console/interrupt.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "inputs/text/token_options.h"
#include "outputs/neighbor_output.h"

namespace resmem::cli {
namespace {

class LmNeighbors : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("the nearest memorized contexts of each token, as arrays or lines",
               "As resmem neighbors, for the tokens of a text that have a successor. query_ids are "
               "their numbers in the token set; labels are the tokens that followed in the "
               "memorized contexts.");
    DeclareMemory(line, &memory_path_);
    line.Value("--tokens", &tokens_path_, "FILE", "text from resmem lm tokens").Required().File();
    rows_.DeclareForMemory(line);
    output_.DeclareSearch(line);
    DeclareExact(line, &exact_);
    output_.DeclareOutput(line);
    line.Group("Model");
    model_.Declare(line);
    line.AddExample("of a test set",
                    "resmem lm neighbors train.resmem --tokens test.tokens --model run/last.onnx "
                    "-o neighbors.npz");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_RETURN_IF_ERROR(output_.CheckPaths({memory_path_, tokens_path_, model_.path()}));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.exact = exact_}));
    RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(tokens_path_));
    RESMEM_ASSIGN_OR_RETURN(const TokenModel model, model_.OpenFor(memory_path_, memory));
    RESMEM_ASSIGN_OR_RETURN(const TokenRows rows,
                            TokenRows::Make(model, set, rows_.ForMemory(memory)));
    const Predictor predictor(memory);
    RESMEM_RETURN_IF_ERROR(
        output_.Begin(predictor, rows.rows(), /*with_ids=*/true, model_.threads()));
    const auto search = [&](int64_t begin, const Rows& block) -> Status {
      RESMEM_RETURN_IF_ERROR(CheckInterrupt());
      console.progress()->Report("searching", begin, rows.rows());
      return output_.Add(block.keys, block.ids, {});
    };
    RESMEM_RETURN_IF_ERROR(rows.Source().Read(search));
    RESMEM_ASSIGN_OR_RETURN(const std::string summary, output_.End());
    RESMEM_RETURN_IF_ERROR(PrintResult(summary));
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_, tokens_path_;
  bool exact_ = false;
  TokenModelOptions model_;
  TokenRowsChoice rows_;
  NeighborOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeLmNeighbors() {
  return std::make_unique<LmNeighbors>();
}

}  // namespace resmem::cli
