#include "theory/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/check.h"

namespace resmem {

Estimate MeanWithError(std::span<const double> values) {
  RESMEM_DCHECK(values.size() >= 2);
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (double value : values) sum += value;
  const double mean = sum / count;
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1) / count)};
}

std::optional<Slope> LogLogSlope(std::span<const int64_t> n, std::span<const Estimate> values) {
  // A risk below this is the square of an error of 1e-12: rounding, which has no rate.
  constexpr double kRounding = 1e-24;
  RESMEM_DCHECK(n.size() == values.size());
  const size_t count = n.size();
  if (count < 2) return std::nullopt;
  bool weighted = true;
  for (const Estimate& value : values) {
    if (!(value.mean > kRounding)) return std::nullopt;
    weighted = weighted && value.error > 0;
  }

  std::vector<double> x(count), y(count), w(count);
  double mass = 0, mean_x = 0, mean_y = 0;
  for (size_t i = 0; i < count; ++i) {
    x[i] = std::log(static_cast<double>(n[i]));
    y[i] = std::log(values[i].mean);
    const double relative = weighted ? values[i].error / values[i].mean : 1;
    w[i] = 1 / (relative * relative);
    mass += w[i];
    mean_x += w[i] * x[i];
    mean_y += w[i] * y[i];
  }
  mean_x /= mass;
  mean_y /= mass;
  double xx = 0, xy = 0;
  for (size_t i = 0; i < count; ++i) {
    xx += w[i] * (x[i] - mean_x) * (x[i] - mean_x);
    xy += w[i] * (x[i] - mean_x) * (y[i] - mean_y);
  }
  const double slope = xy / xx;

  // Variance of the points about the line, in units of their own errors.
  double misfit = 0;
  for (size_t i = 0; i < count; ++i) {
    const double rest = y[i] - mean_y - slope * (x[i] - mean_x);
    misfit += w[i] * rest * rest;
  }
  const double excess = count > 2 ? misfit / static_cast<double>(count - 2) : 0;
  const double scale = weighted ? std::max(1.0, excess) : excess;
  return Slope{slope, std::sqrt(scale / xx)};
}

Crossover FindCrossover(std::span<const SimulationPoint> points, Estimate SimulationPoint::*rival,
                        Estimate SimulationPoint::*difference) {
  RESMEM_DCHECK(!points.empty());
  Crossover crossover;
  const Estimate last = points.back().*difference;
  crossover.decided = std::abs(last.mean) > 2 * last.error;
  crossover.resmem_wins = last.mean > 0;

  size_t first = points.size() - 1;
  while (first > 0 && ((points[first - 1].*difference).mean > 0) == crossover.resmem_wins) --first;
  crossover.from_start = first == 0;
  crossover.from = static_cast<double>(points[first].n);
  if (first == 0) return crossover;

  // Between two points log(rival / ResMem) is taken as straight in log(n).
  const SimulationPoint& before = points[first - 1];
  const SimulationPoint& after = points[first];
  const double ratio_before = std::log((before.*rival).mean / before.resmem.mean);
  const double ratio_after = std::log((after.*rival).mean / after.resmem.mean);
  const double share = ratio_before / (ratio_before - ratio_after);
  if (share >= 0 && share <= 1) {
    const double low = std::log(static_cast<double>(before.n));
    const double high = std::log(static_cast<double>(after.n));
    crossover.from = std::exp(low + share * (high - low));
  }
  return crossover;
}

}  // namespace resmem
