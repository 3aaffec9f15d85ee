// resmem lm tokens: text to a token set, which training, memory and evaluation read.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/memory_options.h"
#include "inputs/text/text_options.h"
#include "outputs/output_paths.h"
#include "process/last_words.h"
#include "resmem/data/dataset.h"
#include "resmem/lm/encode_text.h"
#include "resmem/lm/text_report.h"

namespace resmem::cli {
namespace {

class LmTokens : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Status Print(const EncodedText& encoded, double seconds, Console& console) const;
  // What the names of the files say that the text is for; only a hint is made of it.
  Role RoleByName() const;

  TextChoice text_;
  std::string tokenizer_path_, output_;
  EncodeOptions options_;
  std::string end_;
  bool json_ = false;
};

void LmTokens::Declare(CommandLine& line) {
  line.About("encode text as token ids for a language model",
             "Each article, JSON line or file is one document; a language model never sees two of "
             "them at once. Every document ends with the tokenizer's </s> or the like, and begins "
             "with its <s> where the "
             "file's template says so. What is left out or "
             "replaced is counted and reported.");
  text_.Declare(line);
  line.Value("--tokenizer", &tokenizer_path_, "FILE",
             "a SentencePiece model, a tokenizer.json of Hugging Face, or GPT-2's vocab.json with "
             "merges.txt beside it (docs/lm.md)")
      .Required()
      .File();
  line.Value("--end", &end_, "PIECE", "the token that ends each document")
      .Default("the tokenizer's own: </s>, <|endoftext|> or the like");
  DeclareThreads(line, &options_.threads);
  line.Group("Output");
  line.Value("--output", &output_, "FILE", "the token set's file; appears when it is complete")
      .Short("-o")
      .Required()
      .File();
  line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
  line.AddExample("Wikipedia with T5's tokenizer",
                  "resmem lm tokens train.txt.zst --tokenizer spiece.model -o train.tokens");
}

Status LmTokens::Print(const EncodedText& encoded, double seconds, Console& console) const {
  const TextCounts& counts = encoded.text;
  Table table = Table::Facts();
  const double tokens = static_cast<double>(encoded.tokens);
  table.AddRow({"tokens", output_ + ": " + Counted(encoded.tokens, "token") + " of " +
                              Counted(encoded.documents, "document")});
  table.AddRow({"text", Counted(counts.files, "file") + ", " + Bytes(counts.bytes) + ", " +
                            Fixed(static_cast<double>(counts.bytes) / tokens, 2) +
                            " bytes a token"});
  table.AddRow({"unknown", Counted(encoded.unknown_tokens, "token") + ", " +
                               Percent(static_cast<double>(encoded.unknown_tokens) / tokens)});
  table.AddRow({"time", Duration(seconds) + ", " +
                            Count(static_cast<int64_t>(tokens / std::max(seconds, 1e-9))) +
                            " tokens/s"});
  RESMEM_RETURN_IF_ERROR(PrintResult(table.Text()));
  switch (RoleByName()) {
    case Role::kTest:
      SuggestNext({"lm", "eval", "MEMORY.resmem", "--tokens", output_, "--model", "MODEL.onnx"},
                  console);
      break;
    case Role::kValidation:
      SuggestNext({"lm", "train", "TRAIN.tokens", "--validation", output_, "-o", "NEW.run"},
                  console);
      break;
    default:
      SuggestNext({"lm", "train", output_, "-o", "NEW.run"}, console);
      break;
  }
  return {};
}

Role LmTokens::RoleByName() const {
  std::vector<std::string> names = text_.paths();
  names.push_back(output_);
  for (const std::string& path : names) {
    std::string name = std::filesystem::path(path).filename().string();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto holds = [&](const char* word) { return name.find(word) != std::string::npos; };
    if (holds("test") || holds("eval")) return Role::kTest;
    if (holds("valid") || holds("dev")) return Role::kValidation;
  }
  return Role::kTrain;
}

Result<ExitCode> LmTokens::Run(Console& console) {
  std::vector<std::string> inputs = text_.paths();
  inputs.push_back(tokenizer_path_);
  RESMEM_RETURN_IF_ERROR(CheckOutputPaths({{"-o", output_}}, inputs));
  RESMEM_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Open(tokenizer_path_));
  if (!end_.empty()) {
    options_.end_id = tokenizer.FindPiece(end_);
    if (!options_.end_id) {
      return Status(ErrorCode::kInvalidArgument,
                    "--end " + end_ + ": " + tokenizer_path_ + " has no such piece");
    }
  }
  RESMEM_ASSIGN_OR_RETURN(TextSource source, text_.Open());
  options_.progress = console.progress();
  const double begin = console.SecondsSinceStart();
  RESMEM_ASSIGN_OR_RETURN(const EncodedText encoded,
                          EncodeText(&source, tokenizer, output_, options_));
  AnnounceOutput("the tokens are complete");
  const double seconds = console.SecondsSinceStart() - begin;
  WarnOfCounts(encoded.text, source.first_broken_record(), console);
  if (!json_) {
    RESMEM_RETURN_IF_ERROR(Print(encoded, seconds, console));
    return ExitCode::kOk;
  }
  RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(output_));
  RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, inputs));
  RESMEM_RETURN_IF_ERROR(
      PrintResult(TokenSetJson(set, encoded.unknown_tokens, FinishedRun(run, console)) + "\n"));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeLmTokens() {
  return std::make_unique<LmTokens>();
}

}  // namespace resmem::cli
