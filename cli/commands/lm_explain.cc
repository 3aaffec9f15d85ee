// resmem lm explain: why the next token is what it is.
#include <algorithm>

#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "inputs/text/token_question.h"
#include "outputs/model_text.h"
#include "outputs/tokens/token_text.h"

namespace resmem::cli {
namespace {

class LmExplain : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("which memorized contexts support the next token",
               "Shows, after the last token of the text or the last N, the five best next tokens "
               "of the base and of base + memory, and the nearest memorized contexts: the token "
               "that followed there and what each adds to the answer; to a blend's in log space, "
               "with shares that are convention (docs/predictor.md).");
    DeclareMemory(line, &memory_path_);
    line.Value("--text", &text_, "WORDS", "the text before the token to predict").Required();
    line.Value("--last", &last_, "N", "explain the last N tokens of the text");
    line.Value("--neighbors", &neighbors_, "N", "neighbors shown; the answer uses all of them");
    shown_.Declare(line, "--tokens");
    unknown_.Declare(line);
    line.Group("Model");
    model_.Declare(line);
    line.AddExample("a completion",
                    "resmem lm explain train.resmem --text 'The capital of France is' --tokenizer "
                    "spiece.model --model run/last.onnx");
  }

  Result<ExitCode> Run(Console&) override {
    if (last_ < 1 || neighbors_ < 0) {
      return Status(ErrorCode::kInvalidArgument, "--last must be 1 or more, --neighbors 0 or more");
    }
    RESMEM_ASSIGN_OR_RETURN(
        const ResidualMemory memory,
        ResidualMemory::Open(memory_path_, {.verify_blocks = false, .exact = shown_.exact()}));
    RESMEM_ASSIGN_OR_RETURN(const auto opened, shown_.Open(memory));
    const auto& [tokenizer, memorized] = opened;
    RESMEM_ASSIGN_OR_RETURN(const TokenModel model, model_.OpenFor(memory_path_, memory));
    std::vector<int32_t> ids;
    RESMEM_RETURN_IF_ERROR(tokenizer.EncodeFromBeginning(text_, &ids));
    if (ids.empty()) return Status(ErrorCode::kInvalidArgument, "--text holds no token");
    const auto context = static_cast<size_t>(model.manifest().context);
    if (ids.size() > context) ids.erase(ids.begin(), ids.end() - std::ptrdiff_t(context));
    const Predictor predictor(memory);
    RESMEM_ASSIGN_OR_RETURN(PredictOptions options, shown_.answer().Choose(predictor));
    options.threads = model_.threads();
    RESMEM_RETURN_IF_ERROR(unknown_.Apply(predictor, memory_path_, &options));
    const auto dim = static_cast<size_t>(model.manifest().dim);
    const auto classes = static_cast<size_t>(model.manifest().classes);
    const size_t shown = std::min(static_cast<size_t>(last_), ids.size());
    const TokenInput window{ids, static_cast<int64_t>(shown)};
    std::vector<float> keys(shown * dim), logits(shown * classes);
    RESMEM_RETURN_IF_ERROR(model.Run(std::span(&window, 1), keys, logits));
    for (size_t row = 0; row < shown; ++row) {
      const size_t i = ids.size() - shown + row;
      RESMEM_ASSIGN_OR_RETURN(const Explanation explanation,
                              Explain(predictor, std::span(keys).subspan(row * dim, dim),
                                      std::span(logits).subspan(row * classes, classes), options));
      RESMEM_ASSIGN_OR_RETURN(const std::string before,
                              tokenizer.Decode(std::span(ids).first(i + 1)));
      RESMEM_ASSIGN_OR_RETURN(const std::string words,
                              TokenExplanation(explanation, tokenizer, memorized, neighbors_));
      RESMEM_RETURN_IF_ERROR(PrintResult("after \"" + Printable(before) + "\"\n" + words +
                                         (i + 1 < ids.size() ? "\n" : "")));
    }
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_, text_;
  int64_t last_ = 1, neighbors_ = 8;
  TokenNeighborOptions shown_;
  UnknownRate unknown_;
  TokenModelOptions model_;
};

}  // namespace

std::unique_ptr<Command> MakeLmExplain() {
  return std::make_unique<LmExplain>();
}

}  // namespace resmem::cli
