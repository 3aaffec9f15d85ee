#include "reproduce/lm/token_evaluation.h"

#include <algorithm>
#include <utility>

#include "eval/answers/row_answers.h"
#include "eval/calibration.h"
#include "predict/input_checks.h"
#include "support/guard.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {

// One method on one row.
struct MethodAnswer {
  bool right = false, floored = false;
  double nll = 0;

  void SetProbability(float probability) { nll = NegativeLog(probability, &floored); }
};

namespace {

// `answers`: of base, then k-NN and the mixtures if wanted, then ResMem.
Status JudgeToken(const MemoryDescription& description, const TokenJudgeOptions& options,
                  int32_t label, RowAnswers* row, std::span<MethodAnswer> answers) {
  answers.front().right = row->Base() == label;
  answers.front().SetProbability(row->probabilities()[static_cast<size_t>(label)]);
  if (options.baselines) {
    answers[1].right = row->Knn() == label;
    answers[1].SetProbability(row->MixtureAt(1.0f, label));
    for (size_t i = 0; i < options.lambdas.size(); ++i) {
      answers[i + 2].right = row->KnnLm(options.lambdas[i]) == label;
      answers[i + 2].SetProbability(row->MixtureAt(options.lambdas[i], label));
    }
  }
  answers.back().right = row->ResMem() == label;
  if (!options.probabilities) return {};
  RESMEM_RETURN_IF_ERROR(ToProbabilities(description.calibrator, description.calibrator_temperature,
                                         row->resmem_scores()));
  answers.back().SetProbability(row->resmem_scores()[static_cast<size_t>(label)]);
  return {};
}

}  // namespace

struct TokenJudge::State {
  const ResidualMemory& memory;
  TokenJudgeOptions options;
  int threads = 1;
  std::vector<RowAnswers> scratch = {};
  TokenEvaluation evaluation = {};  // nll is a sum until Finish()
  std::string document = {};        // the last one
  std::vector<MethodAnswer> answers = {};

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
      const MethodAnswer& answer = answers[i * methods + m];
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
  RESMEM_RETURN_IF_ERROR(CheckFrozenTemperature(description, parameters.temperature));
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
  state->scratch =
      std::vector<RowAnswers>(static_cast<size_t>(state->threads), RowAnswers(memory, parameters));
  return TokenJudge(std::move(state));
} catch (...) {
  return CaughtException("judge tokens");
}

Status TokenJudge::Add(const Rows& rows, const Neighbors& neighbors) try {
  RESMEM_RETURN_IF_ERROR(state_->Check(rows, neighbors));
  const size_t methods = state_->evaluation.methods.size();
  const auto count = static_cast<size_t>(rows.count());
  state_->answers.assign(count * methods, MethodAnswer());
  constexpr int64_t kPiece = 8;
  std::vector<Status> failures(count / kPiece + 1);
  ParallelFor(state_->threads, rows.count(), kPiece, [&](int64_t begin, int64_t end, int worker) {
    Status& failure = failures[static_cast<size_t>(begin / kPiece)];
    for (int64_t q = begin; q < end && failure.ok(); ++q) {
      const auto i = static_cast<size_t>(q);
      RowAnswers& row = state_->scratch[static_cast<size_t>(worker)];
      failure = CheckLogits(rows.logits.row_span(q), q);
      if (!failure.ok()) break;
      row.Load(rows.logits.row_span(q), neighbors.rows_of(q), neighbors.distances_of(q));
      failure = JudgeToken(state_->memory.description(), state_->options, rows.labels[i], &row,
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
