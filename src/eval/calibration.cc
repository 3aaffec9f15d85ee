#include "eval/calibration.h"

#include <algorithm>
#include <cmath>

#include "kernels/long_row.h"

namespace resmem {
namespace {

constexpr float kFloor = 0x1p-23f;  // float32's epsilon, as scikit-learn's log_loss takes it

}  // namespace

double NegativeLog(float probability, bool* floored) {
  *floored = probability < kFloor;
  return -std::log(static_cast<double>(std::max(probability, kFloor)));
}

CalibrationRow JudgeProbabilities(std::span<const float> probabilities, int32_t label,
                                  int64_t answer) {
  CalibrationRow row;
  row.nll = NegativeLog(probabilities[static_cast<size_t>(label)], &row.floored);
  // The square of the label's error in the place of the square of its probability.
  const double true_probability = probabilities[static_cast<size_t>(label)];
  row.brier = SumOfSquares(probabilities.data(), std::ssize(probabilities)) -
              true_probability * true_probability + (1 - true_probability) * (1 - true_probability);
  row.confidence = probabilities[static_cast<size_t>(answer)];
  row.right = answer == label;
  return row;
}

void CalibrationSum::Add(const CalibrationRow& row) {
  ++rows_;
  floored_ += row.floored ? 1 : 0;
  nll_ += row.nll;
  brier_ += row.brier;
  // Bin b holds confidences in (b / 15, (b + 1) / 15].
  const double position = std::ceil(static_cast<double>(row.confidence) * 15) - 1;
  BinSum& bin = bins_[static_cast<size_t>(std::clamp(position, 0.0, 14.0))];
  ++bin.count;
  bin.right += row.right ? 1 : 0;
  bin.confidence += static_cast<double>(row.confidence);
}

Calibration CalibrationSum::Finish() const {
  Calibration result;
  if (rows_ == 0) return result;
  const double rows = static_cast<double>(rows_);
  result.nll = nll_ / rows;
  result.brier = brier_ / rows;
  result.floored = floored_;
  for (size_t b = 0; b < bins_.size(); ++b) {
    if (bins_[b].count == 0) continue;
    const double count = static_cast<double>(bins_[b].count);
    Calibration::Bin& bin = result.bins[b];
    bin.count = bins_[b].count;
    bin.confidence = bins_[b].confidence / count;
    bin.accuracy = static_cast<double>(bins_[b].right) / count;
    result.ece += count / rows * std::abs(bin.accuracy - bin.confidence);
  }
  return result;
}

}  // namespace resmem
