#include "shard/extrapolate.h"

#include <array>
#include <cmath>
#include <limits>

namespace resmem {
namespace {

// Student's t, 97.5 %.
double Quantile(size_t freedom) {
  constexpr std::array kQuantiles = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                     2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                     2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
  return freedom <= kQuantiles.size() ? kQuantiles[freedom - 1]
                                      : 1.96 + 2.4 / static_cast<double>(freedom);
}

}  // namespace

Estimate Extrapolate(std::span<const WeightedPoint> points, double x, double weight) {
  double weights = 0, mean_x = 0, mean_y = 0;
  for (const WeightedPoint& point : points) {
    weights += point.weight;
    mean_x += point.weight * point.x;
    mean_y += point.weight * point.y;
  }
  mean_x /= weights;
  mean_y /= weights;
  double xx = 0, xy = 0;
  for (const WeightedPoint& point : points) {
    xx += point.weight * (point.x - mean_x) * (point.x - mean_x);
    xy += point.weight * (point.x - mean_x) * (point.y - mean_y);
  }
  const double slope = xx > 0 ? xy / xx : 0;
  const double value = mean_y + slope * (x - mean_x);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (points.size() < 3 || !(xx > 0)) return {value, -kInfinity, kInfinity};
  double scatter = 0;
  for (const WeightedPoint& point : points) {
    const double off = point.y - mean_y - slope * (point.x - mean_x);
    scatter += point.weight * off * off;
  }
  const size_t freedom = points.size() - 2;
  const double variance = scatter / static_cast<double>(freedom) *
                          (1 / weight + 1 / weights + (x - mean_x) * (x - mean_x) / xx);
  const double half = Quantile(freedom) * std::sqrt(variance);
  return {value, value - half, value + half};
}

}  // namespace resmem
