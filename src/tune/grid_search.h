// Every point of the grid on every validation row.
#ifndef RESMEM_TUNE_GRID_SEARCH_H_
#define RESMEM_TUNE_GRID_SEARCH_H_

#include <cstdint>
#include <vector>

#include "tune/validation_rows.h"

namespace resmem {

// Sums over the rows of one fold, or of several.
struct PointSums {
  std::vector<int64_t> fixed, harmed;  // of each point, in the order of Tuning::points
  std::vector<int64_t> base_right;     // of each temperature (ties of rounding may depend on it)
  std::vector<double> squared_error;   // of each point: regression
  double base_squared_error = 0;
  int64_t rows = 0;

  void Resize(const Grid& grid);
  void Add(const PointSums& other);
};

// Of each fold the sums over all others, added up and not taken away: a difference would keep only
// the rounding of an outlier.
std::vector<PointSums> SumsOfOthers(const Grid& grid, const std::vector<PointSums>& folds);

// The position of a point in Tuning::points.
inline size_t PointIndex(const Grid& grid, size_t t, size_t s, size_t j) {
  return (t * grid.sigma.size() + s) * grid.k.size() + j;
}

// One PointSums a fold.  The same for any thread count.
Result<std::vector<PointSums>> SearchGrid(const ResidualMemory& memory, const ValidationRows& rows,
                                          const Grid& grid, const TuneOptions& options);

}  // namespace resmem

#endif  // RESMEM_TUNE_GRID_SEARCH_H_
