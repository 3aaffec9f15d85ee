// NLL, Brier score and expected calibration error, row by row in the order given.
#ifndef RESMEM_EVAL_CALIBRATION_H_
#define RESMEM_EVAL_CALIBRATION_H_

#include <cstdint>
#include <span>

#include "resmem/evaluation.h"

namespace resmem {

// What one row adds; computed on any thread, summed in row order.
struct CalibrationRow {
  double nll = 0, brier = 0;
  float confidence = 0;  // probability of the answer
  bool right = false, floored = false;
};
CalibrationRow JudgeProbabilities(std::span<const float> probabilities, int32_t label,
                                  int64_t answer);

// -log of a probability, which counts as 2^-23 where it is smaller: a calibrator may give exactly
// 0, and one such row would make every mean infinite.
double NegativeLog(float probability, bool* floored);

class CalibrationSum {
 public:
  void Add(const CalibrationRow& row);
  Calibration Finish() const;  // all zero without rows

 private:
  int64_t rows_ = 0, floored_ = 0;
  double nll_ = 0, brier_ = 0;
  struct BinSum {
    int64_t count = 0, right = 0;
    double confidence = 0;
  };
  std::array<BinSum, 15> bins_;
};

}  // namespace resmem

#endif  // RESMEM_EVAL_CALIBRATION_H_
