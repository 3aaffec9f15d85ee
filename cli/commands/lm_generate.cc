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

// A text that grows, as it is printed.
class SpokenText {
 public:
  explicit SpokenText(Output* out) : out_(out) {}

  // `text`: all of it so far.  A character of which the last bytes are missing waits.
  Status Show(std::string_view text) {
    constexpr std::string_view kNoCharacter = "\xEF\xBF\xBD";
    while (text.ends_with(kNoCharacter)) text.remove_suffix(kNoCharacter.size());
    return Add(text);
  }
  Status Finish(std::string_view text) {
    RESMEM_RETURN_IF_ERROR(Add(text));
    RESMEM_RETURN_IF_ERROR(out_->Write("\n"));
    return out_->Flush();
  }

 private:
  Status Add(std::string_view text) {
    if (text.size() <= shown_) return {};
    RESMEM_RETURN_IF_ERROR(out_->Write(Printable(text.substr(shown_))));
    shown_ = text.size();
    return out_->Flush();
  }

  Output* out_;
  size_t shown_ = 0;  // bytes
};

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
  struct Spoken {
    int64_t tokens = 0;
    double seconds = 0;
    bool kept_past = false;
  };
  // Prints what follows `ids` by one method, token by token.
  Result<Spoken> GoOn(const Context& context, std::vector<int32_t> ids, Output* out,
                      Console& console) const;
  // Turns the answer to the last token into probabilities of the next one.
  Result<std::vector<float>> Probabilities(const Context& context, std::span<const float> key,
                                           std::span<const float> logits) const;
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
  line.About(
      "continue a text with the base and with ResMem, side by side",
      "Greedy, or sampled from the probabilities with --sample; the same seed gives the "
      "same text. Each token is printed as soon as it is known. Stops at the tokenizer's </s> "
      "or the like. A model with past_key_values reads each token once; the speed with and "
      "without the memory goes to standard error.");
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

Result<std::vector<float>> LmGenerate::Probabilities(const Context& context,
                                                     std::span<const float> key,
                                                     std::span<const float> logits) const {
  std::vector<float> scores(logits.size());
  RESMEM_RETURN_IF_ERROR(context.predictor.Predict(MatrixView(key.data(), 1, std::ssize(key)),
                                                   MatrixView(logits.data(), 1, std::ssize(logits)),
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

Result<LmGenerate::Spoken> LmGenerate::GoOn(const Context& context, std::vector<int32_t> ids,
                                            Output* out, Console& console) const {
  const ModelManifest& manifest = context.model.manifest();
  std::mt19937_64 random(static_cast<uint64_t>(seed_));
  std::vector<float> key(static_cast<size_t>(manifest.dim));
  std::vector<float> logits(static_cast<size_t>(manifest.classes));
  TokenStream stream(context.model);
  SpokenText text(out);
  Spoken spoken;
  spoken.kept_past = stream.keeps_past();
  const double begin = console.SecondsSinceStart();
  size_t read = 0;
  for (; spoken.tokens < tokens_; ++spoken.tokens) {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    RESMEM_ASSIGN_OR_RETURN(const std::string so_far, context.tokenizer.Decode(ids));
    RESMEM_RETURN_IF_ERROR(text.Show(so_far));
    RESMEM_RETURN_IF_ERROR(stream.Append(std::span(ids).subspan(read), key, logits));
    read = ids.size();
    RESMEM_ASSIGN_OR_RETURN(const std::vector<float> probabilities,
                            Probabilities(context, key, logits));
    const int32_t id = Choose(probabilities, &random);
    if (id == context.tokenizer.end_id()) break;
    ids.push_back(id);
  }
  spoken.seconds = console.SecondsSinceStart() - begin;
  RESMEM_ASSIGN_OR_RETURN(const std::string whole, context.tokenizer.Decode(ids));
  RESMEM_RETURN_IF_ERROR(text.Finish(whole));
  return spoken;
}

Result<ExitCode> LmGenerate::Run(Console& console) {
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
  RESMEM_RETURN_IF_ERROR(tokenizer.EncodeFromBeginning(text_, &ids));
  if (ids.empty()) return Status(ErrorCode::kInvalidArgument, "--text holds no token");
  const Predictor predictor(memory);
  Context context{model, tokenizer, predictor, {}};
  RESMEM_ASSIGN_OR_RETURN(const PredictOptions answer, answer_.Choose(predictor));
  RESMEM_ASSIGN_OR_RETURN(const Parameters resmem, answer_.ResMemParameters(memory.description()));
  const std::vector<Method> methods = {Method::kBase, answer.method};
  std::vector<std::string> names, rates;
  size_t widest = 0;
  for (const Method method : methods) {
    names.emplace_back(method == Method::kResMem ? "ResMem" : MethodName(method));
    widest = std::max(widest, names.back().size());
  }
  Output out = Output::Standard();
  for (size_t i = 0; i < methods.size(); ++i) {
    context.options = answer;
    context.options.method = methods[i];
    if (!NeedsBlend(methods[i])) context.options.parameters = resmem;
    context.options.threads = model_.threads();
    RESMEM_RETURN_IF_ERROR(out.Write(names[i] + std::string(widest + 2 - names[i].size(), ' ')));
    auto going_on = GoOn(context, ids, &out, console);
    if (!going_on.ok()) {
      RESMEM_RETURN_IF_ERROR(out.Write("\n"));  // the error stands on a line of its own
      RESMEM_RETURN_IF_ERROR(out.Flush());
      return going_on.status();
    }
    const Spoken spoken = *going_on;
    rates.push_back(
        names[i] + ": " + Counted(spoken.tokens, "token") + " in " + Duration(spoken.seconds) +
        ", " + Fixed(static_cast<double>(spoken.tokens) / std::max(spoken.seconds, 1e-9), 1) +
        " tokens/s" + (methods[i] == Method::kBase ? " without" : " with") + " the memory" +
        (spoken.kept_past ? "" : "; the model keeps nothing of earlier tokens"));
  }
  RESMEM_RETURN_IF_ERROR(out.Close());
  for (const std::string& rate : rates) console.Note(rate);
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeLmGenerate() {
  return std::make_unique<LmGenerate>();
}

}  // namespace resmem::cli
