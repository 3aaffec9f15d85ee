// Visits the corrections of one query at every (sigma, k) of the grid, for one temperature.
//
// Weights are those of src/predict/correction.cc; sums are taken as there, neighbor by neighbor in
// the same order and the same float32 steps; a sum over k neighbors is a stop on the way to the sum
// over more.  So every score met here is bit for bit the one that Predictor::Score() gives for
// those parameters.
#ifndef RESMEM_TUNE_GRID_WALK_H_
#define RESMEM_TUNE_GRID_WALK_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tune/residual_table.h"

namespace resmem {

// One thread's; holds the buffers.
class GridWalk {
 public:
  // Columns of buffers for `outputs` values: whole vectors, so that kernels have no remainder.
  static int64_t Stride(int64_t outputs);

  GridWalk(const ResidualMemory& memory, const ResidualTable& table, const Grid& grid);

  // The score of this query at sigma s and k j of the grid is base + sum * scale.  `sum` has
  // Stride() values, zeros after the outputs.
  using Visit = std::function<void(size_t s, size_t j, const float* sum, float scale)>;
  // `neighbors`, `distances`: one query's line.  Without any neighbor `visit` sees scale 0 and a
  // sum of zeros.
  void Walk(std::span<const int64_t> neighbors, std::span<const float> distances, float temperature,
            const Visit& visit);

 private:
  // Adds neighbors [begin, end) to the sum of sigma s.
  void Add(std::span<const int64_t> neighbors, size_t begin, size_t end, size_t s,
           float temperature);

  const ResidualMemory& memory_;
  const ResidualTable& table_;
  const Grid& grid_;
  const bool sparse_;  // adds the stored entries only
  const int64_t stride_;
  const size_t chunk_;            // neighbors whose residuals are held at once
  size_t chunk_begin_ = 0;        // first neighbor in residuals_
  std::vector<size_t> stops_;     // neighbors that exist of each k
  std::vector<float> weights_;    // sigma x neighbors
  std::vector<float> scales_;     // sigma x k: 1 / sum of weights
  std::vector<float> sums_;       // sigma x stride
  std::vector<float> residuals_;  // chunk x stride
  std::vector<float> scratch_;
};

}  // namespace resmem

#endif  // RESMEM_TUNE_GRID_WALK_H_
