#include "memories/answer.h"

#include <algorithm>
#include <string>

namespace resmem::serve {
namespace {

Result<Method> FindMethod(const std::string& name) {
  std::string known;
  for (const Method method :
       {Method::kBase, Method::kNearestClassMean, Method::kKnn, Method::kKnnLm, Method::kResMem,
        Method::kBlend, Method::kLogitBoost}) {
    if (name == MethodName(method)) return method;
    known += (known.empty() ? "" : ", ") + std::string(MethodName(method));
  }
  return Status(ErrorCode::kInvalidArgument, "method \"" + name + "\": there are " + known);
}

Status MakeProbabilities(const MemoryState& state, Method method, Answers* answers) {
  if (method == Method::kNearestClassMean) return {};  // has none
  answers->probabilities = answers->scores;
  if (method != Method::kResMem) return {};  // they are probabilities
  const MemoryDescription& description = state.description();
  const auto outputs = static_cast<size_t>(description.outputs);
  const std::span<float> all(answers->probabilities);
  for (size_t begin = 0; begin < all.size(); begin += outputs) {
    RESMEM_RETURN_IF_ERROR(ToProbabilities(
        description.calibrator, description.calibrator_temperature, all.subspan(begin, outputs)));
  }
  return {};
}

}  // namespace

Result<PredictOptions> ChooseOptions(const MemoryState& state, const AnswerParameters& parameters,
                                     int64_t most_k) {
  PredictOptions options = state.predictor.DefaultOptions();
  if (!parameters.method.empty()) {
    RESMEM_ASSIGN_OR_RETURN(const Method method, FindMethod(parameters.method));
    options = state.predictor.OptionsOf(method);
    if (method == Method::kBase) options.parameters.temperature = 1;  // as it is without us
  }
  if (parameters.k) options.parameters.k = *parameters.k;
  if (parameters.sigma) options.parameters.sigma = *parameters.sigma;
  if (parameters.temperature) options.parameters.temperature = *parameters.temperature;
  if (options.parameters.k > most_k) {
    return Status(ErrorCode::kInvalidArgument, "k is " + std::to_string(options.parameters.k) +
                                                   "; this server allows " +
                                                   std::to_string(most_k) + " (--max-k)");
  }
  RESMEM_RETURN_IF_ERROR(CheckParameters(options.parameters));
  return options;
}

Status CheckQueries(const MemoryState& state, MatrixView keys, MatrixView logits) {
  const MemoryDescription& description = state.description();
  if (keys.columns == description.dim && logits.columns == description.outputs &&
      keys.rows == logits.rows && keys.rows > 0) {
    return {};
  }
  return {ErrorCode::kBadData, "keys are " + std::to_string(keys.rows) + " x " +
                                   std::to_string(keys.columns) + " and logits " +
                                   std::to_string(logits.rows) + " x " +
                                   std::to_string(logits.columns) +
                                   "; this memory wants as many rows of both, one or "
                                   "more, keys of " +
                                   std::to_string(description.dim) + " columns and logits of " +
                                   std::to_string(description.outputs)};
}

Result<Answers> Answer(const MemoryState& state, MatrixView keys, MatrixView logits,
                       const PredictOptions& options) {
  Answers answers;
  answers.rows = keys.rows;
  const auto outputs = static_cast<size_t>(state.description().outputs);
  RESMEM_RETURN_IF_ERROR(state.predictor.FindNeighbors(
      keys, options.parameters.k, {}, options.threads, options.progress, &answers.neighbors));
  answers.scores.resize(static_cast<size_t>(keys.rows) * outputs);
  RESMEM_RETURN_IF_ERROR(
      state.predictor.Score(keys, logits, answers.neighbors, options, answers.scores));
  for (int64_t q = 0; q < keys.rows; ++q) {
    answers.percentile.push_back(state.predictor.DistancePercentile(answers.neighbors, q));
    if (!state.classifies()) continue;
    const std::span<const float> line(answers.scores);
    answers.prediction.push_back(ArgMax(line.subspan(static_cast<size_t>(q) * outputs, outputs)));
    answers.base_prediction.push_back(ArgMax(logits.row_span(q)));
  }
  if (state.classifies()) {
    RESMEM_RETURN_IF_ERROR(MakeProbabilities(state, options.method, &answers));
  }
  RESMEM_RETURN_IF_ERROR(state.memory.damage());
  return answers;
}

}  // namespace resmem::serve
