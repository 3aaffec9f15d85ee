// resmem tokenizer train: a SentencePiece model from text.
#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "inputs/text/spm_train.h"
#include "inputs/text/text_options.h"
#include "outputs/output_paths.h"
#include "outputs/tokens/tokenizer_text.h"
#include "resmem/lm/text_report.h"
#include "resmem/lm/text_sample.h"

namespace resmem::cli {
namespace {

class TokenizerTrain : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  TextChoice text_;
  TextSampleOptions sample_;
  SpmTrainOptions train_;
  int64_t seed_ = 1;
  std::string output_;
  bool json_ = false;
};

void TokenizerTrain::Declare(CommandLine& line) {
  line.About("train a tokenizer on text",
             "Learns word pieces from lines sampled from the text, with SentencePiece's program "
             "spm_train. The same text, options and seed give the same file. The special ids are "
             "T5's: 0 <pad>, 1 </s>, 2 <unk>.");
  text_.Declare(line);
  line.Value("--pieces", &train_.pieces, "N", "size of the vocabulary");
  line.Choice<TokenizerKind, TokenizerKind>(
      "--kind", &train_.kind, {{"unigram", TokenizerKind::kUnigram}, {"bpe", TokenizerKind::kBpe}},
      "how pieces are chosen; T5's are unigram");
  line.Value(
      "--coverage", &train_.character_coverage, "SHARE",
      "share of the text's characters that the pieces must cover; of the rest, ASCII is kept and "
      "others become unknown");
  line.Group("Sample");
  line.Value("--sample-lines", &sample_.lines, "N", "learn from at most this many lines");
  line.Value("--seed", &seed_, "N", "seed of the sample");
  line.Group("Output");
  line.Value("--output", &output_, "FILE", "the model's file; appears when it is complete")
      .Short("-o")
      .Required()
      .File();
  line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
  line.AddExample("8,000 pieces from a folder of texts",
                  "resmem tokenizer train speeches --pieces 8000 -o speeches.model");
}

Result<ExitCode> TokenizerTrain::Run(Console& console) {
  if (train_.pieces < 8 || train_.pieces > 1000000) {
    return Status(ErrorCode::kInvalidArgument,
                  "--pieces " + std::to_string(train_.pieces) + ": allowed are 8 to 1,000,000");
  }
  if (!(train_.character_coverage > 0.5 && train_.character_coverage <= 1)) {
    return Status(ErrorCode::kInvalidArgument, "--coverage " +
                                                   ShortNumber(train_.character_coverage) +
                                                   ": allowed is more than 0.5, up to 1");
  }
  if (seed_ < 0) return Status(ErrorCode::kInvalidArgument, "--seed: allowed are 0 and more");
  RESMEM_RETURN_IF_ERROR(CheckOutputPaths({{"-o", output_}}, text_.paths()));
  RESMEM_ASSIGN_OR_RETURN(TextSource source, text_.Open());
  sample_.seed = static_cast<uint64_t>(seed_);
  sample_.progress = console.progress();
  RESMEM_ASSIGN_OR_RETURN(const TextSample sample, SampleLines(&source, sample_));
  WarnOfCounts(source.counts(), source.first_broken_record(), console);
  if (sample.lines.empty()) {
    return Status(ErrorCode::kBadData, text_.paths().front() + ": holds no text to learn from");
  }
  console.Note("learning from " + Count(static_cast<int64_t>(sample.lines.size())) + " of " +
               Counted(sample.lines_read, "line"));
  RESMEM_RETURN_IF_ERROR(RunSpmTrain(sample.lines, train_, output_));
  RESMEM_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Open(output_));
  if (json_) {
    RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, text_.paths()));
    run.seeds["sample"] = sample_.seed;
    RESMEM_RETURN_IF_ERROR(
        PrintResult(TokenizerJson(output_, tokenizer, FinishedRun(run, console)) + "\n"));
    return ExitCode::kOk;
  }
  RESMEM_ASSIGN_OR_RETURN(const std::string words, TokenizerText(output_, tokenizer, ""));
  RESMEM_RETURN_IF_ERROR(PrintResult(words));
  std::vector<std::string> next = {"lm", "tokens"};
  text_.AddWords(&next);
  next.insert(next.end(), {"--tokenizer", output_, "-o", "NEW.tokens"});
  SuggestNext(next, console);
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeTokenizerTrain() {
  return std::make_unique<TokenizerTrain>();
}

}  // namespace resmem::cli
