#include "eval/privacy/separation.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace resmem {
namespace {

constexpr double kNormal95 = 1.959963984540054;

// Of the sorted values, the share below `value`; equal ones count half.
double ShareBelow(std::span<const double> sorted, double value) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
  const auto below = static_cast<double>(first - sorted.begin());
  const auto equal = static_cast<double>(last - first);
  return (below + equal / 2) / static_cast<double>(sorted.size());
}

double Mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// The variance of the mean of values.
double VarianceOfMean(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const auto count = static_cast<double>(values.size());
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (count - 1) / count;
}

// Members above the threshold that at most `share` of held-out rows pass.  Both sorted.
double ShareFound(std::span<const double> members, std::span<const double> held_out, double share) {
  const auto count = static_cast<double>(held_out.size());
  const auto passing = static_cast<size_t>(std::floor(share * count + 1e-9));
  const double threshold = held_out[held_out.size() - 1 - std::min(passing, held_out.size() - 1)];
  const auto first = std::upper_bound(members.begin(), members.end(), threshold);
  return static_cast<double>(members.end() - first) / static_cast<double>(members.size());
}

std::vector<double> Sorted(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

Interval Around(double middle, double variance, double low, double high) {
  const double half = kNormal95 * std::sqrt(variance);
  return {std::max(low, middle - half), std::min(high, middle + half)};
}

std::vector<double> Differences(std::span<const double> left, std::span<const double> right) {
  std::vector<double> differences(left.size());
  std::transform(left.begin(), left.end(), right.begin(), differences.begin(), std::minus<>());
  return differences;
}

}  // namespace

Ranking::Ranking(std::span<const double> members, std::span<const double> held_out) {
  const std::vector<double> in = Sorted(members), out = Sorted(held_out);
  for (const double value : members) below_.push_back(ShareBelow(out, value));
  for (const double value : held_out) above_.push_back(1 - ShareBelow(in, value));
  auc_ = Mean(below_);
  tpr_at_1_percent_ = ShareFound(in, out, 0.01);
  tpr_at_0_1_percent_ = ShareFound(in, out, 0.001);
}

Separation Ranking::separation() const {
  Separation separation;
  separation.auc = auc_;
  separation.interval = Around(auc_, VarianceOfMean(below_) + VarianceOfMean(above_), 0, 1);
  separation.tpr_at_1_percent = tpr_at_1_percent_;
  separation.tpr_at_0_1_percent = tpr_at_0_1_percent_;
  return separation;
}

Interval Ranking::DifferenceInterval(const Ranking& other) const {
  const double variance = VarianceOfMean(Differences(below_, other.below_)) +
                          VarianceOfMean(Differences(above_, other.above_));
  return Around(auc_ - other.auc_, variance, -1, 1);
}

}  // namespace resmem
