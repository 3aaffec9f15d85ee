// Squared errors of base, k-NN and ResMem on the same rows.
#ifndef RESMEM_EVAL_REGRESSION_H_
#define RESMEM_EVAL_REGRESSION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "eval/judge.h"

namespace resmem {

// Mean and spread of values that come one by one (Welford).
class RunningMoments {
 public:
  void Add(double value) {
    ++count_;
    const double step = value - mean_;
    mean_ += step / static_cast<double>(count_);
    squares_ += step * (value - mean_);
  }
  int64_t count() const { return count_; }
  double mean() const { return mean_; }
  double squares() const { return squares_; }  // sum of squared distances to the mean

 private:
  int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

class RegressionJudge : public Judge {
 public:
  // `options.parameters` and `options.method` must be set.
  RegressionJudge(const Predictor& predictor, const EvaluationOptions& options);

  Status Add(const RowBlock& block, int64_t begin, int64_t count,
             const Neighbors& neighbors) override;
  void Finish(Evaluation* evaluation) const override;

 private:
  // Of each row, means over the outputs.
  struct RowErrors {
    std::vector<double> squared, absolute;
  };
  Status Errors(const Rows& rows, const Neighbors& neighbors, Method method, RowErrors* errors);

  const Predictor& predictor_;
  const EvaluationOptions& options_;
  const bool knn_;  // there are neighbors to ask
  RunningMoments base_, knn_error_, resmem_, reduction_;
  RunningMoments base_absolute_, knn_absolute_, resmem_absolute_;
  std::vector<double> base_rows_, resmem_rows_;  // absolute errors of all rows
  std::optional<IntervalJudge> intervals_;
  std::vector<RunningMoments> targets_;  // of each output
  std::vector<float> scores_;
  RowErrors base_errors_, knn_errors_, resmem_errors_;
};

}  // namespace resmem

#endif  // RESMEM_EVAL_REGRESSION_H_
