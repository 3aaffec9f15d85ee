// One draw of the experiment: theta*, n covariates, the test points, the labels' noise.
#ifndef RESMEM_LAB_THEORY_SAMPLE_H_
#define RESMEM_LAB_THEORY_SAMPLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "resmem/knn_index.h"
#include "resmem/status.h"

namespace resmem {

// Covariates are float32, which is what the search sees; all else computes with these values in
// double.
struct Sample {
  int64_t dimension = 0;
  int64_t n = 0;
  int64_t tests = 0;
  std::vector<double> direction;   // theta*, a unit vector
  std::vector<float> covariates;   // n x dimension
  std::vector<float> test_points;  // tests x dimension
  std::vector<double> noise;       // n standard normal values; empty without noise

  std::span<const float> covariate(int64_t row) const { return Row(covariates, row); }
  std::span<const float> test_point(int64_t row) const { return Row(test_points, row); }

 private:
  std::span<const float> Row(const std::vector<float>& points, int64_t row) const {
    return {points.data() + row * dimension, static_cast<size_t>(dimension)};
  }
};

// The same sample for the same arguments, whatever else is drawn; noise comes last, so that all
// before it does not depend on `with_noise`.  Requires dimension < 2^12, n < 2^32, draw < 2^20.
Sample DrawSample(int64_t dimension, int64_t n, int64_t tests, bool with_noise, uint64_t seed,
                  int64_t draw);

// The k nearest covariates of each test point, exactly.
Result<Neighbors> FindNeighbors(const Sample& sample, int64_t k);

double Dot(std::span<const float> x, std::span<const double> theta);

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_SAMPLE_H_
