#include "eval/statistics.h"

#include <math.h>  // lgamma_r: std::lgamma writes a global

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace resmem {
namespace {

constexpr double kNormalQuantile = 1.959963984540054;  // of 97.5 %

double LogFactorial(int64_t n) {
  int sign = 0;
  return lgamma_r(static_cast<double>(n) + 1, &sign);
}

// The correlation of the two answers, lowered by n / 2 in the numerator where it is positive.
double CorrectedPhi(double fixed, double harmed, double both_right, double both_wrong) {
  const double margins =
      (both_right + fixed) * (harmed + both_wrong) * (both_right + harmed) * (fixed + both_wrong);
  if (margins == 0) return 0;
  const double n = fixed + harmed + both_right + both_wrong;
  const double determinant = both_right * both_wrong - fixed * harmed;
  const double corrected = determinant > 0 ? std::max(determinant - n / 2, 0.0) : determinant;
  return corrected / std::sqrt(margins);
}

}  // namespace

Interval WilsonInterval(int64_t correct, int64_t total) {
  if (total <= 0) return {0, 1};
  const double n = static_cast<double>(total);
  const double share = static_cast<double>(correct) / n;
  const double z2 = kNormalQuantile * kNormalQuantile;
  const double center = share + z2 / (2 * n);
  const double half = kNormalQuantile * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  // The ends are exact where rounding would leave 1e-17 of them.
  return {correct == 0 ? 0 : (center - half) / (1 + z2 / n),
          correct == total ? 1 : (center + half) / (1 + z2 / n)};
}

Interval PairedInterval(int64_t fixed, int64_t harmed, int64_t both_right, int64_t both_wrong) {
  const int64_t total = fixed + harmed + both_right + both_wrong;
  if (total <= 0) return {-1, 1};
  const double n = static_cast<double>(total);
  const double other = static_cast<double>(both_right + fixed) / n;
  const double base = static_cast<double>(both_right + harmed) / n;
  const Interval of_other = WilsonInterval(both_right + fixed, total);
  const Interval of_base = WilsonInterval(both_right + harmed, total);
  const double phi = CorrectedPhi(static_cast<double>(fixed), static_cast<double>(harmed),
                                  static_cast<double>(both_right), static_cast<double>(both_wrong));
  const auto add = [phi](double a, double b) {
    return std::sqrt(std::max(a * a - 2 * phi * a * b + b * b, 0.0));
  };
  const double difference = static_cast<double>(fixed - harmed) / n;
  return {std::max(difference - add(other - of_other.low, of_base.high - base), -1.0),
          std::min(difference + add(of_other.high - other, base - of_base.low), 1.0)};
}

double McNemarP(int64_t fixed, int64_t harmed) {
  const int64_t n = fixed + harmed;
  const int64_t smaller = std::min(fixed, harmed);
  if (2 * smaller >= n - 1) return 1;  // the two halves meet, or share their middle
  // The largest term in logarithms, the smaller ones as ratios to it: no term overflows, and the
  // sum ends where a term no longer counts.
  const double largest = LogFactorial(n) - LogFactorial(smaller) - LogFactorial(n - smaller) -
                         static_cast<double>(n) * std::log(2.0);
  double ratio = 1, sum = 1;
  for (int64_t i = smaller; i > 0 && ratio > 1e-18 * sum; --i) {
    ratio *= static_cast<double>(i) / static_cast<double>(n - i + 1);
    sum += ratio;
  }
  return std::min(1.0, 2 * std::exp(largest) * sum);
}

double MeanHalfWidth(double deviation, int64_t count) {
  if (count < 2) return std::numeric_limits<double>::infinity();
  // Student's quantile by its expansion in 1 / degrees of freedom (Abramowitz and Stegun 26.7.5);
  // the first two counts, where it is too short, from the closed forms.
  const double z = kNormalQuantile, v = static_cast<double>(count - 1);
  const double z2 = z * z;
  double t = z + z * (z2 + 1) / (4 * v) + z * ((5 * z2 + 16) * z2 + 3) / (96 * v * v) +
             z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * v * v * v) +
             z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / (92160 * v * v * v * v);
  if (count == 2) t = 12.706204736432095;
  if (count == 3) t = 4.302652729911275;
  return t * deviation / std::sqrt(static_cast<double>(count));
}

Accuracy MakeAccuracy(int64_t correct, int64_t total) {
  const double value = total > 0 ? static_cast<double>(correct) / static_cast<double>(total) : 0;
  return {correct, total, value, WilsonInterval(correct, total)};
}

Interval DifferenceInterval(const Accuracy& left, const Accuracy& right) {
  const double difference = left.value - right.value;
  return {
      difference - std::hypot(left.value - left.interval.low, right.interval.high - right.value),
      difference + std::hypot(left.interval.high - left.value, right.value - right.interval.low)};
}

PairedGain MakePairedGain(int64_t fixed, int64_t harmed, int64_t both_right, int64_t both_wrong) {
  PairedGain result;
  result.total = fixed + harmed + both_right + both_wrong;
  result.fixed = fixed;
  result.harmed = harmed;
  result.both_right = both_right;
  result.both_wrong = both_wrong;
  if (result.total > 0) {
    const double n = static_cast<double>(result.total);
    result.gain = static_cast<double>(fixed - harmed) / n;
    result.tpr = static_cast<double>(fixed) / n;
    result.fpr = static_cast<double>(harmed) / n;
  }
  result.interval = PairedInterval(fixed, harmed, both_right, both_wrong);
  result.p_value = McNemarP(fixed, harmed);
  return result;
}

Interval MeanInterval(std::span<const double> values, std::span<const int32_t> slices) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  std::vector<double> away;  // from the mean, of each independent draw
  if (slices.empty()) {
    for (const double value : values) away.push_back(value - mean);
  } else {
    away.resize(static_cast<size_t>(*std::max_element(slices.begin(), slices.end())) + 1);
    for (size_t i = 0; i < values.size(); ++i)
      away[static_cast<size_t>(slices[i])] += values[i] - mean;
    const double share = static_cast<double>(away.size()) / static_cast<double>(values.size());
    for (double& sum : away) sum *= share;
  }
  double squares = 0;
  for (const double one : away) squares += one * one;
  const double deviation = std::sqrt(squares / static_cast<double>(away.size() - 1));
  const double half = MeanHalfWidth(deviation, std::ssize(away));
  return {mean - half, mean + half};
}

}  // namespace resmem
