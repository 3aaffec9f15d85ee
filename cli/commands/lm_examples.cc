// resmem lm examples: single tokens that the memory fixed, and some that it harmed.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "inputs/parameter_options.h"
#include "inputs/token_options.h"
#include "outputs/model_text.h"
#include "outputs/token_examples.h"

namespace resmem::cli {
namespace {

class LmExamples : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("tokens that the memory fixed, and tokens that it harmed",
               "Picks, of each kind, the tokens whose true next token's score changed most, at "
               "most one per document. Shows each with its context and the nearest memorized "
               "contexts and the tokens that followed there.");
    DeclareMemory(line, &memory_path_);
    line.Value("--tokens", &tokens_path_, "FILE", "held-out text from resmem lm tokens")
        .Required()
        .File();
    DeclareTokenRows(line, &rows_);
    line.Value("--count", &options_.count, "N", "tokens of each kind");
    line.Value("--neighbors", &options_.neighbors, "N",
               "neighbors shown; the answer uses all of them");
    parameters_.Declare(line, "as stored in the memory");
    DeclareExact(line, &exact_);
    line.Value("--memorized", &memorized_path_, "FILE", "the token set that was memorized")
        .Default("the one recorded in the memory")
        .File();
    line.Value("--tokenizer", &tokenizer_path_, "FILE", "the tokenizer that encoded the tokens")
        .Required()
        .File();
    line.Group("Model");
    model_.Declare(line);
    line.AddExample("on a test set",
                    "resmem lm examples train.resmem --tokens test.tokens --tokenizer "
                    "spiece.model --model run/last.onnx");
  }

  Result<ExitCode> Run(Console& console) override {
    if (options_.count < 1 || options_.neighbors < 0) {
      return Status(ErrorCode::kInvalidArgument,
                    "--count must be 1 or more, --neighbors 0 or more");
    }
    RESMEM_ASSIGN_OR_RETURN(
        const ResidualMemory memory,
        ResidualMemory::Open(memory_path_, {.verify_blocks = false, .exact = exact_}));
    RESMEM_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Open(tokenizer_path_));
    RESMEM_RETURN_IF_ERROR(CheckTokenizer(tokenizer_path_, tokenizer, memory));
    RESMEM_ASSIGN_OR_RETURN(const MemorizedText memorized,
                            MemorizedText::Open(memorized_path_, "--memorized", memory));
    RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(tokens_path_));
    RESMEM_ASSIGN_OR_RETURN(const TokenModel model, model_.OpenFor(memory_path_, memory));
    RESMEM_ASSIGN_OR_RETURN(const TokenRows rows, TokenRows::Make(model, set, rows_));
    RESMEM_ASSIGN_OR_RETURN(options_.parameters, parameters_.Apply(memory.description().parameters,
                                                                   memory.description().task));
    options_.threads = model_.threads();
    RESMEM_ASSIGN_OR_RETURN(
        const std::vector<TokenExample> examples,
        ChooseTokenExamples(Predictor(memory), rows, tokenizer, memorized, options_, console));
    std::string text = "rule: " + TokenExampleRule(options_) + "\n";
    for (const TokenExample& example : examples) text += "\n" + Text(example);
    RESMEM_RETURN_IF_ERROR(PrintResult(text));
    return ExitCode::kOk;
  }

 private:
  static std::string Text(const TokenExample& example) {
    using Align = Table::Align;
    Table facts = Table::Facts();
    facts.AddRow({example.fixed ? "fixed" : "harmed", "in " + Printable(example.title)});
    facts.AddRow({"after", "... " + Printable(example.context)});
    facts.AddRow({"truth", example.truth + ": score " + Fixed(example.base_score, 3) + " -> " +
                               Fixed(example.resmem_score, 3)});
    facts.AddRow({"base", example.base});
    facts.AddRow({"ResMem", example.resmem});
    Table table({{"distance"},
                 {"weight"},
                 {"next", Align::kLeft},
                 {"context", Align::kLeft},
                 {"in", Align::kLeft}});
    for (const TokenExample::Neighbor& neighbor : example.neighbors) {
      table.AddRow({Fixed(neighbor.distance, 3), Fixed(neighbor.weight, 3), neighbor.next,
                    "... " + Printable(neighbor.context), Printable(neighbor.title)});
    }
    return facts.Text() + table.Text();
  }

  std::string memory_path_, tokens_path_, memorized_path_, tokenizer_path_;
  bool exact_ = false;
  TokenModelOptions model_;
  TokenRowsOptions rows_;
  ParameterOptions parameters_;
  TokenExampleOptions options_;
};

}  // namespace

std::unique_ptr<Command> MakeLmExamples() {
  return std::make_unique<LmExamples>();
}

}  // namespace resmem::cli
