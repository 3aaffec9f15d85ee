#include "eval/regression.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/statistics.h"

namespace resmem {

RegressionJudge::RegressionJudge(const Predictor& predictor, const EvaluationOptions& options)
    : predictor_(predictor),
      options_(options),
      knn_(options.baselines && predictor.memory().rows() > 0 && options.parameters->k > 0),
      targets_(static_cast<size_t>(predictor.memory().description().outputs)) {
  const PredictOptions own = predictor.DefaultOptions();
  // A blend has parameters of its own, whatever ResMem's are.
  const bool own_parameters = NeedsBlend(own.method) || *options.parameters == own.parameters;
  if (*options.method != own.method || !own_parameters) return;
  Result<IntervalFit> fit = IntervalsOf(predictor.memory(), "");
  if (!fit.ok()) return;
  std::vector<double> shares;
  for (const double share : {0.5, 0.8, 0.9, 0.95}) {
    if (IntervalFactors(*fit, share).ok()) shares.push_back(share);
  }
  Result<IntervalJudge> judge = IntervalJudge::Make(predictor, std::move(*fit), shares);
  if (judge.ok()) intervals_.emplace(std::move(*judge));
}

namespace {

// At percentiles 0 .. 100.
std::vector<double> Percentiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  std::vector<double> at;
  for (size_t percent = 0; percent <= 100; ++percent) {
    at.push_back(values[(values.size() - 1) * percent / 100]);
  }
  return at;
}

}  // namespace

Status RegressionJudge::Add(const RowBlock& block, int64_t begin, int64_t count,
                            const Neighbors& neighbors) {
  const Rows rows = block.rows().Slice(begin, count);
  RESMEM_RETURN_IF_ERROR(Errors(rows, neighbors, Method::kBase, &base_errors_));
  RESMEM_RETURN_IF_ERROR(Errors(rows, neighbors, *options_.method, &resmem_errors_));
  if (intervals_) intervals_->Add(rows, scores_, neighbors);
  if (knn_) RESMEM_RETURN_IF_ERROR(Errors(rows, neighbors, Method::kKnn, &knn_errors_));
  for (size_t i = 0; i < base_errors_.squared.size(); ++i) {
    base_.Add(base_errors_.squared[i]);
    resmem_.Add(resmem_errors_.squared[i]);
    reduction_.Add(base_errors_.squared[i] - resmem_errors_.squared[i]);
    base_absolute_.Add(base_errors_.absolute[i]);
    resmem_absolute_.Add(resmem_errors_.absolute[i]);
    base_rows_.push_back(base_errors_.absolute[i]);
    resmem_rows_.push_back(resmem_errors_.absolute[i]);
    if (knn_) {
      knn_error_.Add(knn_errors_.squared[i]);
      knn_absolute_.Add(knn_errors_.absolute[i]);
    }
    const float* target = rows.targets.row(static_cast<int64_t>(i));
    for (size_t c = 0; c < targets_.size(); ++c) targets_[c].Add(static_cast<double>(target[c]));
  }
  return {};
}

Status RegressionJudge::Errors(const Rows& rows, const Neighbors& neighbors, Method method,
                               RowErrors* errors) {
  const size_t outputs = targets_.size();
  const auto count = static_cast<size_t>(rows.count());
  PredictOptions predict = predictor_.OptionsOf(method);
  if (!NeedsBlend(method)) predict.parameters = *options_.parameters;
  predict.threads = options_.threads;
  scores_.resize(count * outputs);
  RESMEM_RETURN_IF_ERROR(predictor_.Score(rows.keys, rows.logits, neighbors, predict, scores_));
  errors->squared.assign(count, 0);
  errors->absolute.assign(count, 0);
  for (size_t i = 0; i < count; ++i) {
    const float* target = rows.targets.row(static_cast<int64_t>(i));
    for (size_t c = 0; c < outputs; ++c) {
      const double error =
          static_cast<double>(scores_[i * outputs + c]) - static_cast<double>(target[c]);
      errors->squared[i] += error * error;
      errors->absolute[i] += std::abs(error);
    }
    errors->squared[i] /= static_cast<double>(outputs);
    errors->absolute[i] /= static_cast<double>(outputs);
  }
  return {};
}

void RegressionJudge::Finish(Evaluation* evaluation) const {
  Evaluation::Regression result;
  double spread = 0;  // mean over outputs of the targets' squared distances to their mean
  for (const RunningMoments& target : targets_) spread += target.squares();
  spread /= static_cast<double>(targets_.size());
  const auto r2 = [spread](const RunningMoments& error) {
    return spread > 0 ? 1 - error.mean() * static_cast<double>(error.count()) / spread : 0;
  };
  result.base_mse = base_.mean();
  result.base_r2 = r2(base_);
  result.resmem_mse = resmem_.mean();
  result.resmem_r2 = r2(resmem_);
  if (knn_) {
    result.knn_mse = knn_error_.mean();
    result.knn_r2 = r2(knn_error_);
    result.knn_mae = knn_absolute_.mean();
  }
  result.base_mae = base_absolute_.mean();
  result.resmem_mae = resmem_absolute_.mean();
  result.base_errors = Percentiles(base_rows_);
  result.resmem_errors = Percentiles(resmem_rows_);
  if (intervals_) result.intervals = intervals_->Finish();
  result.mse_reduction = reduction_.mean();
  const int64_t count = reduction_.count();
  const double deviation =
      count > 1 ? std::sqrt(reduction_.squares() / static_cast<double>(count - 1)) : 0;
  const double half = MeanHalfWidth(deviation, count);
  result.interval = {result.mse_reduction - half, result.mse_reduction + half};
  evaluation->regression = result;
}

}  // namespace resmem
