#include "memories/answer.h"

#include <algorithm>
#include <string>

#include "operation/log.h"
#include "resmem/row_filter.h"
#include "shards/shard_set.h"

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

Status AnswerFromShards(const MemoryState& state, MatrixView keys, MatrixView logits,
                        const PredictOptions& options, Answers* answers) {
  if (options.method == Method::kNearestClassMean) {
    return {
        ErrorCode::kUnsupported,
        "method \"nearest-class-mean\" reads every row, and a gateway has none; ask by another"};
  }
  const int64_t k = std::max(options.parameters.k, state.predictor.DistanceNeighbors());
  RESMEM_ASSIGN_OR_RETURN(Gathered gathered, state.shards->Gather(state.memory, keys, k));
  answers->neighbors = std::move(gathered.neighbors);
  answers->missing = std::move(gathered.missing);
  return Predictor(gathered.rows).Score(keys, logits, answers->neighbors, options, answers->scores);
}

}  // namespace

int64_t MemoryState::rows() const {
  return shards == nullptr ? memory.rows() : shards->rows();
}

std::string MemoryState::ClassName(int64_t class_number) const {
  const std::vector<std::string>& names = description().class_names;
  if (!names.empty()) return names[static_cast<size_t>(class_number)];
  return model == nullptr ? std::string() : model->TokenText(class_number);
}

std::optional<int32_t> MemoryState::FindClass(std::string_view name) const {
  const std::vector<std::string>& names = description().class_names;
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<int32_t>(at - names.begin());
  return model == nullptr ? std::nullopt : model->FindToken(name);
}

Result<std::shared_ptr<const MemoryState>> MemoryState::Part(const std::string& where) const {
  // Each holds what searches prepare of the keys.
  constexpr size_t kMostParts = 16;
  if (shards != nullptr) {
    return Status(ErrorCode::kUnsupported,
                  "where: a gateway cannot choose rows by their tags; ask a server that has the "
                  "whole memory");
  }
  RESMEM_ASSIGN_OR_RETURN(const RowFilter filter, RowFilter::Parse(where));
  const std::lock_guard<std::mutex> lock(parts_mutex_);
  const auto known = parts_.find(where);
  if (known != parts_.end()) return known->second;
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory some, RowsWhere(memory, filter));
  auto part = std::make_shared<const MemoryState>(
      std::move(some), BesideMemory{model, validation, images, nullptr}, number);
  if (parts_.size() >= kMostParts) parts_.clear();
  parts_.emplace(where, part);
  return std::shared_ptr<const MemoryState>(std::move(part));
}

Status MemoryState::damage() const {
  NoteDamage(memory.damage());
  const std::lock_guard<std::mutex> lock(damage_mutex_);
  return damage_;
}

void MemoryState::NoteDamage(const Status& met) const {
  if (met.code() != ErrorCode::kCorrupt) return;
  {
    const std::lock_guard<std::mutex> lock(damage_mutex_);
    if (!damage_.ok()) return;
    damage_ = met;
  }
  LogWarning("memory_damaged", JsonText().Add("state", number).Add("reason", met.message()));
}

Result<PredictOptions> ChooseOptions(const MemoryState& state, const AnswerParameters& parameters,
                                     int64_t most_k) {
  PredictOptions options = state.predictor.DefaultOptions();
  if (!parameters.method.empty()) {
    RESMEM_ASSIGN_OR_RETURN(const Method method, FindMethod(parameters.method));
    options = state.predictor.OptionsOf(method);
    if (method == Method::kBase) options.parameters.temperature = 1;  // as it is without us
  }
  options.unknown_rate = parameters.unknown_rate.value_or(options.unknown_rate);
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

namespace {

Result<Answers> AnswerSound(const MemoryState& state, MatrixView keys, MatrixView logits,
                            const PredictOptions& options) {
  Answers answers;
  answers.rows = keys.rows;
  const auto outputs = static_cast<size_t>(state.description().outputs);
  answers.scores.resize(static_cast<size_t>(keys.rows) * outputs);
  if (state.shards == nullptr) {
    RESMEM_RETURN_IF_ERROR(state.predictor.FindNeighbors(
        keys, options.parameters.k, {}, options.threads, options.progress, &answers.neighbors));
    RESMEM_RETURN_IF_ERROR(
        state.predictor.Score(keys, logits, answers.neighbors, options, answers.scores));
  } else {
    RESMEM_RETURN_IF_ERROR(AnswerFromShards(state, keys, logits, options, &answers));
  }
  answers.percentile.resize(static_cast<size_t>(keys.rows));
  RESMEM_RETURN_IF_ERROR(state.predictor.DistancePercentiles(keys, answers.neighbors, {},
                                                             options.threads, answers.percentile));
  for (int64_t q = 0; state.classifies() && q < keys.rows; ++q) {
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

}  // namespace

Result<Answers> Answer(const MemoryState& state, MatrixView keys, MatrixView logits,
                       const PredictOptions& options) {
  Result<Answers> answers = AnswerSound(state, keys, logits, options);
  if (!answers.ok()) state.NoteDamage(answers.status());
  return answers;
}

}  // namespace resmem::serve
