// Metrics of one method, row by row: what Metrics in resmem/evaluation.h holds.
#ifndef RESMEM_EVAL_METRICS_H_
#define RESMEM_EVAL_METRICS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "eval/calibration.h"

namespace resmem {

class MetricSums {
 public:
  explicit MetricSums(int64_t classes);

  // In row order.
  void Add(std::span<const float> probabilities, int32_t label, int64_t answer,
           const CalibrationRow& judged);
  Metrics Finish() const;

 private:
  Interval EceInterval() const;
  double Auc() const;

  const int64_t classes_;
  CalibrationSum calibration_;
  int64_t rows_ = 0, in_top5_ = 0;
  std::vector<int64_t> right_, answered_, labeled_;  // of each class
  struct Judged {
    float confidence;
    bool right;
  };
  std::vector<Judged> judged_;
  bool keeps_scores_ = true;
  std::vector<float> scores_;  // rows x classes
  std::vector<int32_t> labels_;
};

}  // namespace resmem

#endif  // RESMEM_EVAL_METRICS_H_
