#include "inputs/answer_options.h"

namespace resmem::cli {
namespace {

constexpr Method kAnswers[] = {Method::kBase, Method::kResMem, Method::kBlend, Method::kLogitBoost};

}  // namespace

void AnswerOptions::Declare(CommandLine& line) {
  parameters_.Declare(line, "as stored in the memory");
  Option& method = line.Value("--method", &method_, "WORD",
                              "whose answer: the base's, the paper's ResMem, or what resmem tune "
                              "fitted (docs/predictor.md)");
  for (const Method answer : kAnswers) method.choices.emplace_back(MethodName(answer));
  method.Default("as stored in the memory; ResMem with --k, --sigma or --temperature");
}

Result<PredictOptions> AnswerOptions::Choose(const Predictor& predictor) const {
  const MemoryDescription& description = predictor.memory().description();
  PredictOptions options = predictor.DefaultOptions();
  for (const Method answer : kAnswers) {
    if (method_ == MethodName(answer)) options = predictor.OptionsOf(answer);
  }
  if (NeedsBlend(options.method) && (!description.blend || description.answer != options.method)) {
    return Status(ErrorCode::kInvalidArgument,
                  "--method " + method_ +
                      ": this memory was not tuned for it (resmem tune --method " + method_ + ")");
  }
  if (!parameters_.given()) return options;
  if (!method_.empty() && options.method != Method::kResMem) {
    return Status(ErrorCode::kInvalidArgument,
                  "--method " + method_ +
                      ": --k, --sigma and --temperature are ResMem's; leave them out, or ask for "
                      "--method resmem");
  }
  options = predictor.OptionsOf(Method::kResMem);
  RESMEM_ASSIGN_OR_RETURN(options.parameters, ResMemParameters(description));
  return options;
}

Result<PredictOptions> AnswerOptions::ChooseShown(const Predictor& predictor) const {
  RESMEM_ASSIGN_OR_RETURN(const PredictOptions options, Choose(predictor));
  if (given() || options.method != Method::kBase) return options;
  return predictor.OptionsOf(Method::kResMem);
}

Result<Parameters> AnswerOptions::ResMemParameters(const MemoryDescription& description) const {
  return parameters_.Apply(description.parameters, description.task);
}

void UnknownRate::Declare(CommandLine& line) {
  line.Value("--unknown-rate", &rate_, "X",
             "a row is unknown where it lies farther from the memory than all but this share, 0 to "
             "1, of the rows it was tuned on; told where the memory has a blend, with the "
             "percentile of the distance")
      .Default("0.01");
}

Status UnknownRate::Apply(const Predictor& predictor, const std::string& memory_path,
                          PredictOptions* options) const {
  if (!rate_.has_value()) return {};
  const Status status = CheckUnknownRate(*rate_);
  if (!status.ok()) return {status.code(), "--unknown-rate: " + status.message()};
  options->unknown_rate = *rate_;
  if (predictor.DistanceNeighbors() > 0) return {};
  return {ErrorCode::kInvalidArgument,
          "--unknown-rate: " + memory_path +
              " does not know the distances of held-out rows; where resmem tune adopts a blend it "
              "knows them"};
}

std::string AnswerName(Method method) {
  return method == Method::kResMem ? "ResMem" : MethodName(method);
}

std::string AnswerText(Method method, const Parameters& parameters, Task task) {
  if (method == Method::kBase) return "the base's answer, as tuning decided";
  const std::string text = ParametersText(parameters, task);
  return method == Method::kResMem ? text : MethodName(method) + (": " + text);
}

}  // namespace resmem::cli
