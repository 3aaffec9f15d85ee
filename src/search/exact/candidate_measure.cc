#include "search/exact/candidate_measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/keep_nearest.h"
#include "support/parallel.h"

namespace resmem {
namespace {

constexpr size_t kMostValuesMore = 2048;  // of a thread

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
  // Fewer are measured sooner than another thread is told of them.
  constexpr int64_t kFewestShared = 16;
  const auto count = static_cast<int64_t>(candidates.size());
  const auto threads = static_cast<int64_t>(measures_.size());
  const size_t before = measured_.size();
  measured_.resize(before + candidates.size());
  ParallelFor(
      static_cast<int>(threads), count, std::max((count + threads - 1) / threads, kFewestShared),
      [&](int64_t begin, int64_t end, int worker) {
        const auto part =
            candidates.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
        MeasuredRow* const out = measured_.data() + before + begin;
        measures_[static_cast<size_t>(worker)].Run(
            part.size(), [&](size_t) { return query; }, [&](size_t i) { return part[i].row; },
            [&](size_t i, double squared) {
              out[i] = {squared, part[i].row};
            });
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
  // A few more are measured sooner than it is found out which of them need not be.
  const size_t few = kMostValuesMore * measures_.size() / static_cast<size_t>(dim_);
  if (candidates_.size() <= k_ + few) {
    Measure(query, candidates_);
  } else {
    MeasureLikeliestFirst(query, bounded_by);
  }
  KeepNearest(static_cast<int64_t>(k_), &measured_);
  return measured_;
}

void CandidateMeasure::MeasureLikeliestFirst(const float* query, BoundedBy bounded_by) {
  const auto first = candidates_.begin() + static_cast<ptrdiff_t>(k_);
  std::nth_element(candidates_.begin(), first, candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.lower < b.lower; });
  Measure(query, {candidates_.begin(), first});
  // k rows are at most so far: the others must be able to be as near.
  const MeasuredRow& farthest = *std::max_element(measured_.begin(), measured_.end());
  const double largest = LargestLower(farthest.squared_distance, bounded_by);
  const auto end = std::remove_if(first, candidates_.end(),
                                  [&](const Candidate& c) { return c.lower > largest; });
  Measure(query, {first, end});
}

}  // namespace resmem
