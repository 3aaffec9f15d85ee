// resmem lm examples: single tokens that the memory fixed, and some that it harmed.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/text/token_question.h"
#include "outputs/model_text.h"
#include "outputs/tokens/token_examples.h"

namespace resmem::cli {
namespace {

class LmExamples : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("tokens that the memory fixed, and tokens that it harmed",
               "Picks, of each kind, the tokens whose true next token's score changed most, at "
               "most one per document. Shows each with its context and the nearest memorized "
               "contexts and the tokens that followed there.");
    question_.Declare(line, "held-out");
    line.Value("--count", &options_.count, "N", "tokens of each kind");
    line.Value("--neighbors", &options_.neighbors, "N",
               "neighbors shown; the answer uses all of them");
    neighbors_.Declare(line, "--memorized");
    question_.DeclareModel(line);
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
        ResidualMemory memory,
        question_.OpenMemory({.verify_blocks = false, .exact = neighbors_.exact()}));
    RESMEM_ASSIGN_OR_RETURN(const TokenNeighborOptions::Opened shown, neighbors_.Open(memory));
    RESMEM_ASSIGN_OR_RETURN(const TokenQuestion::Opened asked, question_.Open(std::move(memory)));
    const Predictor predictor(asked.memory);
    RESMEM_ASSIGN_OR_RETURN(options_.answer, neighbors_.answer().ChooseShown(predictor));
    options_.answer.threads = question_.threads();
    RESMEM_ASSIGN_OR_RETURN(const std::vector<TokenExample> examples,
                            ChooseTokenExamples(predictor, asked.rows, shown.tokenizer,
                                                shown.memorized, options_, console));
    std::string text = "rule: " + TokenExampleRule(options_) + "\n";
    for (const TokenExample& example : examples) text += "\n" + Text(example);
    RESMEM_RETURN_IF_ERROR(PrintResult(text));
    return ExitCode::kOk;
  }

 private:
  std::string Text(const TokenExample& example) const {
    using Align = Table::Align;
    Table facts = Table::Facts();
    facts.AddRow({example.fixed ? "fixed" : "harmed", "in " + Printable(example.title)});
    facts.AddRow({"after", "... " + Printable(example.context)});
    facts.AddRow({"truth", example.truth + ": score " + Fixed(example.base_score, 3) + " -> " +
                               Fixed(example.resmem_score, 3)});
    facts.AddRow({"base", example.base});
    facts.AddRow({AnswerName(options_.answer.method), example.resmem});
    Table table({{"distance"},
                 {"weight"},
                 {"next", Align::kLeft},
                 {"context", Align::kLeft},
                 {"in", Align::kLeft}});
    for (const TokenNeighbor& neighbor : example.neighbors) {
      table.AddRow({Fixed(neighbor.distance, 3), Fixed(neighbor.weight, 3), neighbor.next,
                    "... " + Printable(neighbor.context), Printable(neighbor.title)});
    }
    return facts.Text() + table.Text();
  }

  TokenQuestion question_;
  TokenNeighborOptions neighbors_;
  TokenExampleOptions options_;
};

}  // namespace

std::unique_ptr<Command> MakeLmExamples() {
  return std::make_unique<LmExamples>();
}

}  // namespace resmem::cli
