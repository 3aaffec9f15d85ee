// resmem lm memorize: one key a token, and the largest residuals of each.
#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "inputs/parameter_options.h"
#include "inputs/text/token_options.h"
#include "outputs/memory_output.h"
#include "outputs/memory_text.h"
#include "outputs/output_paths.h"
#include "process/last_words.h"
#include "resmem/lm/token_memory.h"

namespace resmem::cli {
namespace {

class LmMemorize : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  std::string tokens_path_, output_;
  TokenModelOptions model_;
  TokenRowsChoice rows_;
  TokenMemoryOptions options_;
  ParameterOptions parameters_;
  MemoryOutput memory_output_;
};

void LmMemorize::Declare(CommandLine& line) {
  line.About("store one key per token of a text",
             "Runs the language model over every document and stores, for each token that has a "
             "successor, the embedding that predicts it and the largest residuals of that "
             "prediction. If it is stopped or killed, the same command continues where it was.");
  line.Argument("TOKENS", &tokens_path_, "token set from resmem lm tokens").File();
  rows_.DeclareForNew(line);
  line.Group("Memory");
  line.Choice<KeyType, KeyType>(
      "--key-type", &options_.key_type,
      {{"float32", KeyType::kFloat32}, {"float16", KeyType::kFloat16}, {"int8", KeyType::kInt8}},
      "how keys are stored");
  line.Value("--top", &options_.top, "N", "largest residuals kept per token");
  DeclareWaitForMaker(line, &options_.wait_seconds);
  parameters_.Declare(line, "the paper's: k = 50, sigma = 1, T = 1");
  line.Value("--segment-rows", &options_.segment_rows, "N",
             "tokens per file, approximately; a killed run loses at most this many");
  line.Group("Output");
  line.Value("--output", &output_, "FOLDER", "the memory's folder; appears when it is complete")
      .Short("-o")
      .Required()
      .Folder();
  memory_output_.Declare(line);
  line.Group("Model");
  model_.Declare(line);
  line.AddExample("from the text that the model was trained on",
                  "resmem lm memorize train.tokens --model run/last.onnx -o train.resmem");
}

Result<ExitCode> LmMemorize::Run(Console& console) {
  RESMEM_RETURN_IF_ERROR(CheckOutputPaths({{"-o", output_}}, {tokens_path_, model_.path()}));
  RESMEM_ASSIGN_OR_RETURN(options_.parameters,
                          parameters_.Apply(options_.parameters, Task::kClassification));
  RESMEM_ASSIGN_OR_RETURN(const TokenSet set, TokenSet::Open(tokens_path_));
  RESMEM_ASSIGN_OR_RETURN(const TokenModel model, model_.Open());
  RESMEM_ASSIGN_OR_RETURN(const TokenRows rows, TokenRows::Make(model, set, rows_.ForNew(model)));
  options_.progress = console.progress();
  const double begin = console.SecondsSinceStart();
  RESMEM_ASSIGN_OR_RETURN(const MemorizedTokens done, MemorizeTokens(rows, output_, options_));
  AnnounceOutput("the memory is complete");
  const double seconds = console.SecondsSinceStart() - begin;
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                          ResidualMemory::Open(output_, {.verify_blocks = false}));
  Table table = MemoryTable(output_, memory);
  const int64_t made = done.rows - done.found;
  const double rate = static_cast<double>(made) / std::max(seconds, 1e-9);
  table.AddRow(
      {"run", Counted(made, "token") + " in " + Duration(seconds) + ", " +
                  Count(static_cast<int64_t>(rate)) + " tokens/s" +
                  (done.found == 0 ? "" : "; " + Count(done.found) + " kept from an earlier run")});
  table.AddRow(
      {"size",
       Fixed(static_cast<double>(memory.bytes_on_disk()) / static_cast<double>(memory.rows()), 1) +
           " bytes a token; " + Percent(memory.dropped_mass()) +
           " of the residuals' mass was dropped"});
  RESMEM_RETURN_IF_ERROR(
      memory_output_.Print(output_, memory, {tokens_path_, model_.path()}, table.Text(), console));
  if (!memory_output_.json()) {
    SuggestNext({"lm", "eval", output_, "--tokens", "TEST.tokens", "--model", model_.path()},
                console);
  }
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeLmMemorize() {
  return std::make_unique<LmMemorize>();
}

}  // namespace resmem::cli
