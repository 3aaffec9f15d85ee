#include "eval/regression.h"

#include <cmath>

#include "eval/statistics.h"

namespace resmem {

RegressionJudge::RegressionJudge(const Predictor& predictor, const EvaluationOptions& options)
    : predictor_(predictor),
      options_(options),
      knn_(options.baselines && predictor.memory().rows() > 0 && options.parameters->k > 0),
      targets_(static_cast<size_t>(predictor.memory().description().outputs)) {}

Status RegressionJudge::Add(const RowBlock& block, int64_t begin, int64_t count,
                            const Neighbors& neighbors) {
  const Rows rows = block.rows().Slice(begin, count);
  RESMEM_RETURN_IF_ERROR(Errors(rows, neighbors, Method::kBase, &base_errors_));
  RESMEM_RETURN_IF_ERROR(Errors(rows, neighbors, *options_.method, &resmem_errors_));
  if (knn_) RESMEM_RETURN_IF_ERROR(Errors(rows, neighbors, Method::kKnn, &knn_errors_));
  for (size_t i = 0; i < base_errors_.size(); ++i) {
    base_.Add(base_errors_[i]);
    resmem_.Add(resmem_errors_[i]);
    reduction_.Add(base_errors_[i] - resmem_errors_[i]);
    if (knn_) knn_error_.Add(knn_errors_[i]);
    const float* target = rows.targets.row(static_cast<int64_t>(i));
    for (size_t c = 0; c < targets_.size(); ++c) targets_[c].Add(static_cast<double>(target[c]));
  }
  return {};
}

Status RegressionJudge::Errors(const Rows& rows, const Neighbors& neighbors, Method method,
                               std::vector<double>* errors) {
  const size_t outputs = targets_.size();
  const auto count = static_cast<size_t>(rows.count());
  PredictOptions predict = predictor_.OptionsOf(method);
  if (!NeedsBlend(method)) predict.parameters = *options_.parameters;
  predict.threads = options_.threads;
  scores_.resize(count * outputs);
  RESMEM_RETURN_IF_ERROR(predictor_.Score(rows.keys, rows.logits, neighbors, predict, scores_));
  errors->assign(count, 0);
  for (size_t i = 0; i < count; ++i) {
    const float* target = rows.targets.row(static_cast<int64_t>(i));
    for (size_t c = 0; c < outputs; ++c) {
      const double error =
          static_cast<double>(scores_[i * outputs + c]) - static_cast<double>(target[c]);
      (*errors)[i] += error * error;
    }
    (*errors)[i] /= static_cast<double>(outputs);
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
  }
  result.mse_reduction = reduction_.mean();
  const int64_t count = reduction_.count();
  const double deviation =
      count > 1 ? std::sqrt(reduction_.squares() / static_cast<double>(count - 1)) : 0;
  const double half = MeanHalfWidth(deviation, count);
  result.interval = {result.mse_reduction - half, result.mse_reduction + half};
  evaluation->regression = result;
}

}  // namespace resmem
