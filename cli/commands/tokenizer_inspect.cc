// resmem tokenizer inspect: what a tokenizer is, and what it makes of a text.
#include "console/command.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/tokens/tokenizer_text.h"
#include "resmem/lm/text_report.h"

namespace resmem::cli {
namespace {

class TokenizerInspect : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("show what a tokenizer is and how it splits a text");
    line.Argument("MODEL", &path_,
                  "a SentencePiece model, tokenizer.json, vocab.json with merges.txt beside it, or "
                  "the folder of one")
        .File();
    line.Value("--text", &text_, "WORDS",
               "text to show as pieces with their ids, and to decode again");
    line.Group("Output");
    line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
    line.AddExample("T5's",
                    "resmem tokenizer inspect spiece.model --text 'The house is wonderful.'");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Open(path_));
    if (json_) {
      RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, {path_}));
      RESMEM_RETURN_IF_ERROR(
          PrintResult(TokenizerJson(path_, tokenizer, FinishedRun(run, console)) + "\n"));
      return ExitCode::kOk;
    }
    RESMEM_ASSIGN_OR_RETURN(const std::string words, TokenizerText(path_, tokenizer, text_));
    RESMEM_RETURN_IF_ERROR(PrintResult(words));
    return ExitCode::kOk;
  }

 private:
  std::string path_, text_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTokenizerInspect() {
  return std::make_unique<TokenizerInspect>();
}

}  // namespace resmem::cli
