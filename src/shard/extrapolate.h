// A line through measured points, and what it says beyond them.
#ifndef RESMEM_SHARD_EXTRAPOLATE_H_
#define RESMEM_SHARD_EXTRAPOLATE_H_

#include <span>

#include "resmem/shard/forecast.h"

namespace resmem {

struct WeightedPoint {
  double x = 0, y = 0;
  double weight = 1;  // the inverse of the variance of y, but for one factor
};

// The least-squares line at `x`, with the 95 % prediction interval of a further point whose weight
// is `weight`.  The points' own scatter is all that it knows: fewer than three different points
// scatter not at all, and the interval is infinite.
Estimate Extrapolate(std::span<const WeightedPoint> points, double x, double weight);

}  // namespace resmem

#endif  // RESMEM_SHARD_EXTRAPOLATE_H_
