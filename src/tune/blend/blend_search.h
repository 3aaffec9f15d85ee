// Which sigma, k, prior and T suit a blend: a walk over a grid that has no end but good sense.
//
// From a start, one axis after the other is followed as long as the fit gets better, so that an
// optimum never lies at an edge for want of values.  Several subsets of the rows (all, and all but
// one fold) walk on their own; a point that one has visited is known to all.
#ifndef RESMEM_TUNE_BLEND_BLEND_SEARCH_H_
#define RESMEM_TUNE_BLEND_BLEND_SEARCH_H_

#include <array>
#include <map>
#include <vector>

#include "tune/blend/blend_fit.h"

namespace resmem {

struct BlendSearchOptions {
  Objective objective = Objective::kNll;
  double fpr_limit = 0.05;
  std::array<bool, Blend::kParts> parts = {true, true, true, true};
  int64_t largest_k = 1;  // that was searched
  double typical_distance = 1;
  Grid grid;  // axes that the user gave; the others are ours
  int threads = 1;
  Progress* progress = nullptr;
};

class BlendSearch {
 public:
  // `base_answers`: right or not, of each row; for objectives that count.
  BlendSearch(const MemoryDescription& description, const BlendSearchOptions& options,
              BlendSample* sample, const BlendSplit& split, std::vector<bool> base_right,
              float base_temperature);

  // The best point of a subset.
  BlendPoint Walk(size_t subset);
  // The sample at this point; loads it unless it is there.
  void Load(const BlendPoint& point);
  // What the constants alone were there.
  const BlendCoefficients& Constants(const BlendPoint& point, size_t subset);

  int64_t points() const { return static_cast<int64_t>(visited_.size()); }
  // Axes on which this point is the last value that may be asked for; empty: none.
  std::string AtEdge(const BlendPoint& point) const;
  bool cancelled() const { return cancelled_; }

 private:
  enum Axis : size_t { kSigma, kPrior, kNeighbors, kTemperature, kAxes };
  using Place = std::array<size_t, kAxes>;
  struct Visit {
    std::vector<double> merit;  // of each subset, less is better
    std::vector<BlendCoefficients> constants;
  };

  void MakeAxes(const MemoryDescription& description);
  BlendPoint PointAt(const Place& place) const;
  Place PlaceOf(const BlendPoint& point) const;
  const Visit& At(const Place& place);
  double Merit(const BlendFit& fit, const Blend& blend, size_t subset) const;

  const BlendSearchOptions& options_;
  BlendSample* sample_;
  const BlendSplit& split_;
  const std::vector<bool> base_right_;
  const float base_temperature_;
  std::array<std::vector<float>, kAxes> axes_;
  Place start_{};
  std::map<Place, Visit> visited_;
  BlendCoefficients last_{};  // of all rows, at the point visited last
  BlendPoint loaded_;
  bool is_loaded_ = false, is_fitted_ = false, cancelled_ = false;
};

}  // namespace resmem

#endif  // RESMEM_TUNE_BLEND_BLEND_SEARCH_H_
