// Which point of the grid wins.
#ifndef RESMEM_TUNE_CHOICE_H_
#define RESMEM_TUNE_CHOICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tune/grid_search.h"

namespace resmem {

struct ChoiceRule {
  Task task = Task::kClassification;
  Objective objective = Objective::kGain;
  double fpr_limit = 0.05;
};

// The grid's points with these sums, in the order of Tuning::points.
std::vector<TuningPoint> MakePoints(const Grid& grid, const PointSums& sums);

// Positions of all points that the rule admits, the best first.  Among equals: fewer harmed,
// smaller k, temperature nearest 1 (by ratio), larger sigma.
std::vector<size_t> RankPoints(const ChoiceRule& rule, const std::vector<TuningPoint>& points,
                               int64_t rows);

// The winner; nothing where the base alone is as good, or where the rule admits no point.
std::optional<size_t> ChoosePoint(const ChoiceRule& rule, const std::vector<TuningPoint>& points,
                                  const PointSums& sums);

}  // namespace resmem

#endif  // RESMEM_TUNE_CHOICE_H_
