// resmem lm generate: text that goes on, by the base and by ResMem.
#include <algorithm>
#include <cmath>
#include <random>

#include "console/command.h"
#include "console/format.h"
#include "console/interrupt.h"
#include "console/output.h"
#include "inputs/answer_options.h"
#include "inputs/memory_options.h"
#include "inputs/text/token_options.h"
#include "outputs/model_text.h"

namespace resmem::cli {
namespace {

class LmGenerate : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  struct Context {
    const TokenModel& model;
    const Tokenizer& tokenizer;
    const Predictor& predictor;
    PredictOptions options;
  };
  // The ids that follow `ids` by one method.
  Result<std::vector<int32_t>> GoOn(const Context& context, std::vector<int32_t> ids) const;
  // Probabilities of the next token.
  Result<std::vector<float>> Next(const Context& context, std::span<const int32_t> ids) const;
  int32_t Choose(const std::vector<float>& probabilities, std::mt19937_64* random) const;

  std::string memory_path_, text_, tokenizer_path_;
  int64_t tokens_ = 40, seed_ = 1;
  bool sample_ = false;
  double sample_temperature_ = 1;
  bool exact_ = false;
  TokenModelOptions model_;
  AnswerOptions answer_;
};

void LmGenerate::Declare(CommandLine& line) {
  line.About("continue a text with the base and with ResMem, side by side",
             "Greedy, or sampled from the probabilities with --sample; the same seed gives the "
             "same text. Stops at the tokenizer's </s>.");
  DeclareMemory(line, &memory_path_);
  line.Value("--text", &text_, "WORDS", "the beginning of the text").Required();
  line.Value("--count", &tokens_, "N", "generate at most N tokens");
  line.Flag("--sample", &sample_, "sample each token instead of taking the most likely one");
  line.Value("--seed", &seed_, "N", "of the draws");
  line.Value("--sample-temperature", &sample_temperature_, "T",
             "temperature of --sample: below 1 more cautious, above 1 bolder");
  answer_.Declare(line);
  DeclareExact(line, &exact_);
  line.Value("--tokenizer", &tokenizer_path_, "FILE",
             "the tokenizer that encoded the memorized text")
      .Required()
      .File();
  line.Group("Model");
  model_.Declare(line);
  line.AddExample("greedy",
                  "resmem lm generate train.resmem --text 'The city of' --tokenizer spiece.model "
                  "--model run/last.onnx");
}

Result<std::vector<float>> LmGenerate::Next(const Context& context,
                                            std::span<const int32_t> ids) const {
  const ModelManifest& manifest = context.model.manifest();
  const TokenInput window{ids.last(std::min(ids.size(), static_cast<size_t>(manifest.context))), 1};
  std::vector<float> key(static_cast<size_t>(manifest.dim));
  std::vector<float> logits(static_cast<size_t>(manifest.classes));
  RESMEM_RETURN_IF_ERROR(context.model.Run(std::span(&window, 1), key, logits));
  std::vector<float> scores(logits.size());
  RESMEM_RETURN_IF_ERROR(context.predictor.Predict(MatrixView(key.data(), 1, manifest.dim),
                                                   MatrixView(logits.data(), 1, manifest.classes),
                                                   context.options, scores));
  const MemoryDescription& memory = context.predictor.memory().description();
  if (context.options.method == Method::kResMem) {
    RESMEM_RETURN_IF_ERROR(
        ToProbabilities(memory.calibrator, memory.calibrator_temperature, scores));
  }
  scores.resize(static_cast<size_t>(context.tokenizer.size()));  // what has no text is not chosen
  return scores;
}

int32_t LmGenerate::Choose(const std::vector<float>& probabilities, std::mt19937_64* random) const {
  if (!sample_) {
    return static_cast<int32_t>(std::max_element(probabilities.begin(), probabilities.end()) -
                                probabilities.begin());
  }
  std::vector<double> weights(probabilities.size());
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] =
        std::pow(static_cast<double>(std::max(probabilities[i], 0.0f)), 1 / sample_temperature_);
    sum += weights[i];
  }
  // Written out, so that every standard library draws the same.
  double left = static_cast<double>((*random)() >> 11) * 0x1p-53 * sum;
  for (size_t i = 0; i < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return static_cast<int32_t>(i);
  }
  return static_cast<int32_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
}

Result<std::vector<int32_t>> LmGenerate::GoOn(const Context& context,
                                              std::vector<int32_t> ids) const {
  std::mt19937_64 random(static_cast<uint64_t>(seed_));
  std::vector<int32_t> made;
  for (int64_t i = 0; i < tokens_; ++i) {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    RESMEM_ASSIGN_OR_RETURN(const std::vector<float> probabilities, Next(context, ids));
    const int32_t id = Choose(probabilities, &random);
    if (id == context.tokenizer.end_id()) break;
    ids.push_back(id);
    made.push_back(id);
  }
  return made;
}

Result<ExitCode> LmGenerate::Run(Console&) {
  if (tokens_ < 1 || seed_ < 0 || !(sample_temperature_ > 0)) {
    return Status(ErrorCode::kInvalidArgument,
                  "--count must be 1 or more, --seed 0 or more, --sample-temperature above 0");
  }
  RESMEM_ASSIGN_OR_RETURN(
      const ResidualMemory memory,
      ResidualMemory::Open(memory_path_, {.verify_blocks = false, .exact = exact_}));
  RESMEM_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Open(tokenizer_path_));
  RESMEM_RETURN_IF_ERROR(CheckTokenizer(tokenizer_path_, tokenizer, memory));
  RESMEM_ASSIGN_OR_RETURN(const TokenModel model, model_.OpenFor(memory_path_, memory));
  if (tokenizer.size() > model.manifest().classes) {
    return Status(ErrorCode::kMismatch,
                  tokenizer_path_ + ": has " + Counted(tokenizer.size(), "piece") +
                      ", but the model knows " + Count(model.manifest().classes));
  }
  std::vector<int32_t> ids;
  RESMEM_RETURN_IF_ERROR(tokenizer.Encode(text_, &ids));
  if (ids.empty()) return Status(ErrorCode::kInvalidArgument, "--text holds no token");
  const Predictor predictor(memory);
  Context context{model, tokenizer, predictor, {}};
  RESMEM_ASSIGN_OR_RETURN(const PredictOptions answer, answer_.Choose(predictor));
  RESMEM_ASSIGN_OR_RETURN(const Parameters resmem, answer_.ResMemParameters(memory.description()));
  Table table = Table::Facts();
  for (const Method method : {Method::kBase, answer.method}) {
    context.options = answer;
    context.options.method = method;
    if (!NeedsBlend(method)) context.options.parameters = resmem;
    context.options.threads = model_.threads();
    RESMEM_ASSIGN_OR_RETURN(const std::vector<int32_t> made, GoOn(context, ids));
    std::vector<int32_t> whole = ids;
    whole.insert(whole.end(), made.begin(), made.end());
    RESMEM_ASSIGN_OR_RETURN(const std::string text, tokenizer.Decode(whole));
    table.AddRow({method == Method::kResMem ? "ResMem" : MethodName(method), Printable(text)});
  }
  RESMEM_RETURN_IF_ERROR(PrintResult(table.Text()));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeLmGenerate() {
  return std::make_unique<LmGenerate>();
}

}  // namespace resmem::cli
