#include "theory/sample.h"

#include <memory>
#include <utility>

#include "support/check.h"
#include "support/random.h"
#include "theory/ball.h"

namespace resmem {

Sample DrawSample(int64_t dimension, int64_t n, int64_t tests, bool with_noise, uint64_t seed,
                  int64_t draw) {
  RESMEM_DCHECK(dimension < (int64_t{1} << 12) && n < (int64_t{1} << 32) &&
                draw < (int64_t{1} << 20));
  Random random(seed, static_cast<uint64_t>(dimension) << 52 | static_cast<uint64_t>(n) << 20 |
                          static_cast<uint64_t>(draw));
  Sample sample;
  sample.dimension = dimension;
  sample.n = n;
  sample.tests = tests;
  sample.direction.resize(static_cast<size_t>(dimension));
  sample.covariates.resize(static_cast<size_t>(n * dimension));
  sample.test_points.resize(static_cast<size_t>(tests * dimension));
  DrawDirection(&random, sample.direction);
  DrawInBall(dimension, &random, sample.test_points);
  DrawInBall(dimension, &random, sample.covariates);
  if (with_noise) {
    sample.noise.resize(static_cast<size_t>(n));
    for (double& value : sample.noise) value = random.Normal();
  }
  return sample;
}

Result<Neighbors> FindNeighbors(const Sample& sample, int64_t k) {
  KeyBlock keys;
  keys.data = sample.covariates.data();
  keys.rows = sample.n;
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<KnnIndex> index,
                          MakeExactIndex(sample.dimension, {keys}));
  SearchOptions options;
  options.k = k;
  options.threads = 1;  // draws run in parallel, a draw's search does not
  Neighbors neighbors;
  RESMEM_RETURN_IF_ERROR(index->Search(
      MatrixView(sample.test_points.data(), sample.tests, sample.dimension), options, &neighbors));
  return neighbors;
}

double Dot(std::span<const float> x, std::span<const double> theta) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * theta[i];
  return sum;
}

}  // namespace resmem
