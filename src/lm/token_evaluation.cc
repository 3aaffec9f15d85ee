#include "resmem/token_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/vector_math.h"
#include "predict/correction.h"
#include "support/guard.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr float kFloor = 0x1p-23f;

// One method on one row.
struct Answer {
  bool right = false, floored = false;
  double nll = 0;
};

void SetProbability(float probability, Answer* answer) {
  answer->floored = probability < kFloor;
  answer->nll = -std::log(static_cast<double>(std::max(probability, kFloor)));
}

// Answers one row after the other; each thread has its own.
class RowJudge {
 public:
  RowJudge(const ResidualMemory& memory, const Parameters& parameters,
           const TokenJudgeOptions& options)
      : memory_(memory), parameters_(parameters), options_(options) {
    const auto classes = static_cast<size_t>(memory.description().outputs);
    for (std::vector<float>* buffer : {&base_, &sum_, &scratch_, &scores_}) {
      buffer->resize(classes);
    }
    votes_.resize(classes);
  }

  Status Judge(std::span<const float> logits, int32_t label, std::span<const int64_t> rows,
               std::span<const float> distances, std::span<Answer> answers) {
    const auto classes = static_cast<int64_t>(base_.size());
    Softmax(logits.data(), classes, 1.0f, base_.data());
    if (std::isnan(base_[0])) {
      return {ErrorCode::kBadData, "the language model's logits are not finite"};
    }
    const auto at = static_cast<size_t>(label);
    answers.front().right = ArgMax(base_.data(), classes) == label;
    SetProbability(base_[at], &answers.front());
    WeighNeighbors(rows, distances, parameters_.k, parameters_.sigma, &weighted_);
    if (options_.baselines) Vote(label, answers.subspan(1, options_.lambdas.size() + 1));
    return ResMem(logits, label, &answers.back());
  }

 private:
  // k-NN and the mixtures: only the neighbors' labels have another score than the base.
  void Vote(int32_t label, std::span<Answer> answers) {
    const auto classes = static_cast<int64_t>(base_.size());
    named_.clear();
    for (size_t i = 0; i < weighted_.rows.size(); ++i) {
      const auto voted = static_cast<size_t>(memory_.label(weighted_.rows[i]));
      if (votes_[voted] == 0) named_.push_back(voted);
      votes_[voted] += weighted_.weights[i];
    }
    std::sort(named_.begin(), named_.end());  // a weight may be 0: some twice
    named_.erase(std::unique(named_.begin(), named_.end()), named_.end());
    // The best of those that no neighbor names.
    kept_.clear();
    for (const size_t c : named_) {
      kept_.push_back(base_[c]);
      base_[c] = -std::numeric_limits<float>::infinity();
    }
    const auto other = static_cast<size_t>(ArgMax(base_.data(), classes));
    for (size_t i = 0; i < named_.size(); ++i) base_[named_[i]] = kept_[i];
    const bool none_left = named_.size() == base_.size();
    const auto at = static_cast<size_t>(label);
    for (size_t i = 0; i < answers.size(); ++i) {
      // Without neighbors there is nothing to mix in: the base alone, and k-NN knows nothing.
      float lambda = i == 0 ? 1.0f : options_.lambdas[i - 1];
      if (weighted_.rows.empty() && i > 0) lambda = 0;
      const auto score = [&](size_t c) {
        return (1.0f - lambda) * base_[c] + lambda * (votes_[c] * weighted_.scale);
      };
      size_t best = none_left ? named_.front() : other;
      for (const size_t c : named_) {
        const float mine = score(c), theirs = score(best);
        if (mine > theirs || (mine == theirs && c < best)) best = c;
      }
      answers[i].right = best == at;
      SetProbability(score(at), &answers[i]);
    }
    for (const size_t c : named_) votes_[c] = 0;
  }

  Status ResMem(std::span<const float> logits, int32_t label, Answer* answer) {
    const auto classes = static_cast<int64_t>(base_.size());
    const float temperature = parameters_.temperature;
    if (temperature != 1.0f) Softmax(logits.data(), classes, temperature, base_.data());
    SumResiduals(memory_, weighted_, temperature, scratch_, sum_);
    answer->right = ArgMaxOfSum(base_.data(), sum_.data(), weighted_.scale, classes) == label;
    if (!options_.probabilities) return {};
    for (size_t c = 0; c < scores_.size(); ++c) {
      scores_[c] = base_[c] + sum_[c] * weighted_.scale;
    }
    const MemoryDescription& description = memory_.description();
    RESMEM_RETURN_IF_ERROR(
        ToProbabilities(description.calibrator, description.calibrator_temperature, scores_));
    SetProbability(scores_[static_cast<size_t>(label)], answer);
    return {};
  }

  const ResidualMemory& memory_;
  const Parameters parameters_;
  const TokenJudgeOptions& options_;
  WeightedNeighbors weighted_;
  std::vector<float> base_, sum_, scratch_, scores_;
  std::vector<float> votes_;  // zeros between calls
  std::vector<size_t> named_;
  std::vector<float> kept_;
};

}  // namespace

struct TokenJudge::State {
  const ResidualMemory& memory;
  TokenJudgeOptions options;
  int threads = 1;
  std::vector<RowJudge> judges = {};
  TokenEvaluation evaluation = {};  // nll is a sum until Finish()
  std::string document = {};        // the last one
  std::vector<Answer> answers = {};

  Status Check(const Rows& rows, const Neighbors& neighbors) const;
  void Count(const Rows& rows);
};

Status TokenJudge::State::Check(const Rows& rows, const Neighbors& neighbors) const {
  const int64_t outputs = memory.description().outputs, count = rows.count();
  const auto has = [&](size_t size) { return static_cast<int64_t>(size) == count; };
  if (rows.logits.rows != count || rows.logits.columns != outputs || !has(rows.labels.size()) ||
      !has(rows.slices.size()) || neighbors.queries != count) {
    return {ErrorCode::kBadData,
            Text("tokens need logits of ", outputs,
                 " classes, a label, a document and neighbors each; this block of ", count,
                 " rows lacks some")};
  }
  if (neighbors.k < std::min(evaluation.parameters.k, memory.rows())) {
    return {ErrorCode::kInvalidArgument, Text("k is ", evaluation.parameters.k, ", but only ",
                                              neighbors.k, " neighbors a row were searched")};
  }
  for (const int32_t label : rows.labels) {
    if (label >= 0 && label < outputs) continue;
    return {ErrorCode::kBadData, Text("a label is ", label, "; there are ", outputs, " classes")};
  }
  return {};
}

// In the order of the rows, so that sums do not depend on threads.
void TokenJudge::State::Count(const Rows& rows) {
  const size_t methods = evaluation.methods.size();
  for (size_t i = 0; i < rows.labels.size(); ++i) {
    if (evaluation.rows == 0 || rows.slices[i] != document) {
      document = rows.slices[i];
      evaluation.document_rows.push_back(0);
      for (TokenMethodResult& method : evaluation.methods) method.document_right.push_back(0);
    }
    ++evaluation.rows;
    ++evaluation.document_rows.back();
    const bool base_right = answers[i * methods].right;
    for (size_t m = 0; m < methods; ++m) {
      const Answer& answer = answers[i * methods + m];
      TokenMethodResult& method = evaluation.methods[m];
      method.right += answer.right ? 1 : 0;
      method.document_right.back() += answer.right ? 1 : 0;
      method.fixed += answer.right && !base_right ? 1 : 0;
      method.harmed += !answer.right && base_right ? 1 : 0;
      method.nll += answer.nll;
      method.floored += answer.floored ? 1 : 0;
    }
  }
}

TokenJudge::TokenJudge(std::unique_ptr<State> state) : state_(std::move(state)) {}
TokenJudge::TokenJudge(TokenJudge&&) noexcept = default;
TokenJudge::~TokenJudge() = default;

Result<TokenJudge> TokenJudge::Make(const Predictor& predictor, const Parameters& parameters,
                                    const TokenJudgeOptions& options) try {
  const ResidualMemory& memory = predictor.memory();
  const MemoryDescription& description = memory.description();
  RESMEM_RETURN_IF_ERROR(CheckParameters(parameters));
  if (description.task != Task::kClassification) {
    return Status(ErrorCode::kInvalidArgument, "the memory is not one of tokens");
  }
  if (description.form != ResidualForm::kLogits &&
      parameters.temperature != description.parameters.temperature) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("the temperature is ", parameters.temperature,
                       ", but this memory is frozen at ", description.parameters.temperature));
  }
  for (const float lambda : options.lambdas) {
    if (lambda >= 0 && lambda <= 1) continue;
    return Status(ErrorCode::kInvalidArgument,
                  Text("a lambda of the kNN-LM sweep is ", lambda, "; it must lie in 0 .. 1"));
  }
  std::unique_ptr<State> state(new State{memory, options});
  state->threads = ResolveThreads(options.threads);
  state->evaluation.parameters = parameters;
  std::vector<TokenMethodResult>& methods = state->evaluation.methods;
  methods.push_back({.method = Method::kBase});
  if (options.baselines) {
    methods.push_back({.method = Method::kKnn});
    for (const float lambda : options.lambdas) {
      methods.push_back({.method = Method::kKnnLm, .lambda = lambda});
    }
  }
  methods.push_back({.method = Method::kResMem});
  state->judges = std::vector<RowJudge>(static_cast<size_t>(state->threads),
                                        RowJudge(memory, parameters, state->options));
  return TokenJudge(std::move(state));
} catch (...) {
  return CaughtException("judge tokens");
}

Status TokenJudge::Add(const Rows& rows, const Neighbors& neighbors) try {
  RESMEM_RETURN_IF_ERROR(state_->Check(rows, neighbors));
  const size_t methods = state_->evaluation.methods.size();
  const auto count = static_cast<size_t>(rows.count());
  state_->answers.assign(count * methods, Answer());
  constexpr int64_t kPiece = 8;
  std::vector<Status> failures(count / kPiece + 1);
  ParallelFor(state_->threads, rows.count(), kPiece, [&](int64_t begin, int64_t end, int worker) {
    Status& failure = failures[static_cast<size_t>(begin / kPiece)];
    for (int64_t q = begin; q < end && failure.ok(); ++q) {
      const auto i = static_cast<size_t>(q);
      failure = state_->judges[static_cast<size_t>(worker)].Judge(
          rows.logits.row_span(q), rows.labels[i], neighbors.rows_of(q), neighbors.distances_of(q),
          std::span(state_->answers).subspan(i * methods, methods));
    }
  });
  for (const Status& failure : failures) RESMEM_RETURN_IF_ERROR(failure);
  state_->Count(rows);
  return {};
} catch (...) {
  return CaughtException("judge tokens");
}

TokenEvaluation TokenJudge::Finish() const {
  TokenEvaluation evaluation = state_->evaluation;
  for (TokenMethodResult& method : evaluation.methods) {
    method.nll /= static_cast<double>(std::max<int64_t>(evaluation.rows, 1));
  }
  return evaluation;
}

DocumentIntervals TokenEvaluation::Intervals(const TokenMethodResult& method,
                                             const TokenMethodResult& other) const {
  std::vector<GroupResult> documents(document_rows.size());
  for (size_t i = 0; i < documents.size(); ++i) {
    documents[i].total = document_rows[i];
    documents[i].base_correct = other.document_right[i];
    documents[i].resmem_correct = method.document_right[i];
  }
  return BootstrapDocuments(documents);
}

}  // namespace resmem
