#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "eval/answers/row_block.h"
#include "eval/classification.h"
#include "eval/regression.h"
#include "eval/seconds_since.h"
#include "eval/warnings.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

using Clock = std::chrono::steady_clock;

// Rows judged at once: their scores and neighbors take at most 64 MB each, and where each method's
// probabilities are kept for its metrics, those of eight methods.
int64_t PieceRows(int64_t outputs, int64_t k) {
  const bool kept = outputs <= ClassificationJudge::kMostMetricClasses;
  const int64_t values = int64_t{1} << (kept ? 21 : 24);
  return std::clamp<int64_t>(values / std::max({outputs, k, int64_t{1}}), 1, 8192);
}

// Of the answer that is judged.
Parameters JudgedParameters(const MemoryDescription& description,
                            const EvaluationOptions& options) {
  return NeedsBlend(*options.method) ? description.blend->parameters : *options.parameters;
}

// Enough for every method.
int64_t LargestK(const MemoryDescription& description, const EvaluationOptions& options) {
  const int64_t own = std::max(options.parameters->k, JudgedParameters(description, options).k);
  const bool rivals = options.baselines && description.task == Task::kClassification;
  return rivals ? std::max(own, ClassificationJudge::LargestK(description)) : own;
}

Status CheckOptions(const MemoryDescription& description, const EvaluationOptions& options) {
  RESMEM_RETURN_IF_ERROR(CheckParameters(*options.parameters));
  const Method method = *options.method;
  if (method != Method::kBase && method != Method::kResMem && !NeedsBlend(method)) {
    return {ErrorCode::kInvalidArgument,
            Text(MethodName(method),
                 " cannot be judged as a memory's answer; give base, resmem, "
                 "blend or logit-boost")};
  }
  if (NeedsBlend(method) && !description.blend) {
    return {ErrorCode::kInvalidArgument,
            Text("the method is ", MethodName(method),
                 ", but this memory has none: fit it on held-out rows with resmem tune")};
  }
  if (options.neighbors && options.leave_one_out) {
    return {ErrorCode::kInvalidArgument,
            "neighbors found elsewhere and leave-one-out exclude each other"};
  }
  const std::vector<int32_t>& coarse = options.coarse_of_class;
  if (!coarse.empty() && static_cast<int64_t>(coarse.size()) != description.outputs) {
    return {ErrorCode::kBadData, Text("there are ", coarse.size(), " coarse labels for ",
                                      description.outputs, " classes; give one for each class")};
  }
  for (const float lambda : options.lambdas) {
    if (!(lambda >= 0 && lambda <= 1)) {
      return {ErrorCode::kInvalidArgument,
              Text("a lambda of the kNN-LM sweep is ", lambda, "; it must lie in 0 .. 1")};
    }
  }
  return {};
}

// Passes blocks on to the judge of the memory's task.
class Evaluator {
 public:
  Evaluator(const Predictor& predictor, const EvaluationOptions& options)
      : predictor_(predictor),
        options_(options),
        largest_k_(LargestK(predictor.memory().description(), options)) {
    if (predictor.memory().description().task == Task::kClassification) {
      judge_ = std::make_unique<ClassificationJudge>(predictor, options);
    } else {
      judge_ = std::make_unique<RegressionJudge>(predictor, options);
    }
  }

  Status Add(int64_t begin, const Rows& rows, int64_t total) {
    RESMEM_RETURN_IF_ERROR(
        block_.Load(predictor_.memory(), begin, rows, options_.only, options_.leave_one_out));
    const int64_t count = block_.rows().count();
    const int64_t step = PieceRows(predictor_.memory().description().outputs, largest_k_);
    for (int64_t first = 0; first < count; first += step) {
      RESMEM_RETURN_IF_ERROR(AddPiece(first, std::min(step, count - first)));
      if (options_.progress != nullptr && options_.progress->Cancelled()) {
        return {ErrorCode::kCancelled, "stopped while evaluating"};
      }
    }
    for (const Role role : block_.rows().roles) ++roles_[static_cast<size_t>(role)];
    evaluation_.rows += count;
    if (options_.progress != nullptr) {
      options_.progress->Report("evaluate", begin + rows.count(), total);
    }
    return {};
  }

  Result<Evaluation> Finish() && {
    const MemoryDescription& description = predictor_.memory().description();
    if (evaluation_.rows == 0) {
      return Status(ErrorCode::kBadData, options_.only.has_value()
                                             ? Text("no row is marked ", RoleName(*options_.only),
                                                    "; nothing to evaluate")
                                             : "there are no rows to evaluate");
    }
    evaluation_.task = description.task;
    evaluation_.method = *options_.method;
    evaluation_.parameters = JudgedParameters(description, options_);
    evaluation_.leave_one_out = options_.leave_one_out;
    evaluation_.calibrator = description.calibrator;
    evaluation_.calibrator_temperature = description.calibrator_temperature;
    if (description.task == Task::kClassification) {
      evaluation_.mean_residual_mass =
          predictor_.memory().MeanResidualMass(evaluation_.parameters.temperature);
      RESMEM_RETURN_IF_ERROR(predictor_.memory().damage());
    }
    judge_->Finish(&evaluation_);
    evaluation_.better_rivals = BetterRivals(evaluation_);
    evaluation_.train_rows = roles_[static_cast<size_t>(Role::kTrain)];
    evaluation_.warnings = EvaluationWarnings(predictor_.memory(), evaluation_,
                                              roles_[static_cast<size_t>(Role::kValidation)]);
    return std::move(evaluation_);
  }

 private:
  Status AddPiece(int64_t begin, int64_t count) {
    const std::span<const int64_t> exclude =
        block_.exclude().empty()
            ? block_.exclude()
            : block_.exclude().subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
    const Clock::time_point start = Clock::now();
    if (options_.neighbors) {
      RESMEM_RETURN_IF_ERROR(
          options_.neighbors(evaluation_.rows + begin, count, largest_k_, &neighbors_));
    } else {
      RESMEM_RETURN_IF_ERROR(predictor_.FindNeighbors(block_.rows().keys.Slice(begin, count),
                                                      largest_k_, exclude, options_.threads,
                                                      nullptr, &neighbors_));
    }
    const Clock::time_point searched = Clock::now();
    evaluation_.search_seconds += std::chrono::duration<double>(searched - start).count();
    for (int64_t q = 0; q < count && neighbors_.k > 0; ++q) {
      evaluation_.rows_at_distance_zero += neighbors_.distances_of(q)[0] == 0 ? 1 : 0;
    }
    const Status status = judge_->Add(block_, begin, count, neighbors_);
    evaluation_.score_seconds += SecondsSince(searched);
    return status;
  }

  const Predictor& predictor_;
  const EvaluationOptions& options_;
  const int64_t largest_k_;
  std::unique_ptr<Judge> judge_;
  RowBlock block_;
  Neighbors neighbors_;
  int64_t roles_[4] = {};
  Evaluation evaluation_;
};

}  // namespace

Result<Evaluation> Evaluate(const Predictor& predictor, const RowSource& rows,
                            const EvaluationOptions& options) try {
  EvaluationOptions resolved = options;
  if (!resolved.method.has_value()) {
    resolved.method =
        options.parameters.has_value() ? Method::kResMem : predictor.memory().description().answer;
  }
  if (!resolved.parameters.has_value()) {
    resolved.parameters = predictor.memory().description().parameters;
  }
  RESMEM_RETURN_IF_ERROR(CheckOptions(predictor.memory().description(), resolved));
  Evaluator evaluator(predictor, resolved);
  RESMEM_RETURN_IF_ERROR(rows.Read(
      [&](int64_t begin, const Rows& block) { return evaluator.Add(begin, block, rows.rows()); }));
  return std::move(evaluator).Finish();
} catch (...) {
  return CaughtException("evaluate these rows");
}

}  // namespace resmem
