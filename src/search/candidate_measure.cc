#include "search/candidate_measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace resmem {
namespace {

// The largest lower bound that a row at most this far can have; a little more does no harm.
double LargestLower(double squared, BoundedBy bounded_by) {
  switch (bounded_by) {
    case BoundedBy::kDistance:
      return std::sqrt(squared) * (1 + 0x1p-50);
    case BoundedBy::kSquaredDistance:
      return squared;
    case BoundedBy::kShiftedSquare:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

void CandidateMeasure::Measure(const float* query, std::span<const Candidate> candidates) {
  measure_.Run(
      candidates.size(), [&](size_t) { return query; }, [&](size_t i) { return candidates[i].row; },
      [&](size_t i, double squared) {
        measured_.push_back({squared, candidates[i].row});
      });
}

std::span<const MeasuredRow> CandidateMeasure::Nearest(const float* query,
                                                       const CandidateList& candidates,
                                                       BoundedBy bounded_by) {
  candidates_.clear();
  measured_.clear();
  for (size_t i = 0; i < candidates.rows().size(); ++i) {
    candidates_.push_back({candidates.lowers()[i], candidates.rows()[i]});
  }
  const size_t first = std::min(k_, candidates_.size());
  if (first < candidates_.size()) {
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<ptrdiff_t>(first),
                     candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.lower < b.lower; });
  }
  const std::span<Candidate> all(candidates_);
  Measure(query, all.first(first));
  // k rows are at most so far: the others must be able to be as near.
  const MeasuredRow& farthest = *std::max_element(measured_.begin(), measured_.end());
  const double largest = LargestLower(farthest.squared_distance, bounded_by);
  const auto end =
      std::remove_if(candidates_.begin() + static_cast<ptrdiff_t>(first), candidates_.end(),
                     [&](const Candidate& c) { return c.lower > largest; });
  Measure(query, {candidates_.begin() + static_cast<ptrdiff_t>(first), end});
  if (measured_.size() > k_) {
    std::nth_element(measured_.begin(), measured_.begin() + static_cast<ptrdiff_t>(k_),
                     measured_.end());
    measured_.resize(k_);
  }
  std::sort(measured_.begin(), measured_.end());
  return measured_;
}

}  // namespace resmem
