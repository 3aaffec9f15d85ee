#include "tune/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace resmem {
namespace {

// An error that overflowed is worse than any other, and all such are equal.
double MeritOfLoss(double loss) {
  return std::isfinite(loss) ? -loss : -std::numeric_limits<double>::infinity();
}

// Larger is better.
double Merit(const ChoiceRule& rule, const TuningPoint& point) {
  if (rule.task == Task::kRegression) return MeritOfLoss(point.loss);
  return static_cast<double>(
      rule.objective == Objective::kTprUnderFpr ? point.fixed : point.fixed - point.harmed);
}

bool Admitted(const ChoiceRule& rule, const TuningPoint& point, int64_t rows) {
  if (rule.task == Task::kRegression || rule.objective != Objective::kTprUnderFpr) return true;
  return static_cast<double>(point.harmed) / static_cast<double>(rows) < rule.fpr_limit;
}

double DistanceFromOne(float temperature) {
  return std::abs(std::log(static_cast<double>(temperature)));
}

bool Better(const ChoiceRule& rule, const TuningPoint& a, const TuningPoint& b) {
  const double merit_a = Merit(rule, a), merit_b = Merit(rule, b);
  if (merit_a != merit_b) return merit_a > merit_b;
  if (a.harmed != b.harmed) return a.harmed < b.harmed;
  if (a.parameters.k != b.parameters.k) return a.parameters.k < b.parameters.k;
  const double from_one_a = DistanceFromOne(a.parameters.temperature);
  const double from_one_b = DistanceFromOne(b.parameters.temperature);
  if (from_one_a != from_one_b) return from_one_a < from_one_b;
  if (a.parameters.sigma != b.parameters.sigma) return a.parameters.sigma > b.parameters.sigma;
  return a.parameters.temperature < b.parameters.temperature;
}

}  // namespace

std::vector<TuningPoint> MakePoints(const Grid& grid, const PointSums& sums) {
  std::vector<TuningPoint> points;
  points.reserve(sums.fixed.size());
  for (const float temperature : grid.temperature) {
    for (const float sigma : grid.sigma) {
      for (const int64_t k : grid.k) {
        const size_t i = points.size();
        const double loss =
            sums.rows > 0 ? sums.squared_error[i] / static_cast<double>(sums.rows) : 0;
        points.push_back({{k, sigma, temperature}, sums.fixed[i], sums.harmed[i], loss});
      }
    }
  }
  return points;
}

std::vector<size_t> RankPoints(const ChoiceRule& rule, const std::vector<TuningPoint>& points,
                               int64_t rows) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](size_t i) { return !Admitted(rule, points[i], rows); });
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return Better(rule, points[a], points[b]); });
  return order;
}

std::optional<size_t> ChoosePoint(const ChoiceRule& rule, const std::vector<TuningPoint>& points,
                                  const PointSums& sums) {
  const std::vector<size_t> order = RankPoints(rule, points, sums.rows);
  if (order.empty()) return std::nullopt;
  const TuningPoint& best = points[order[0]];
  const double base_merit =
      rule.task == Task::kRegression
          ? MeritOfLoss(sums.base_squared_error / static_cast<double>(sums.rows))
          : 0;
  if (Merit(rule, best) <= base_merit) return std::nullopt;
  return order[0];
}

}  // namespace resmem
