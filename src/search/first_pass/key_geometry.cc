#include "search/first_pass/key_geometry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <new>

#include "kernels/squared_distance.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kSampleRows = 1024;

std::vector<float> SampleMean(const KeyStore& keys) {
  const int64_t dim = keys.dim();
  const int64_t samples = std::min(keys.rows(), kSampleRows);
  std::vector<double> sums(static_cast<size_t>(dim));
  std::vector<float> scratch(static_cast<size_t>(dim));
  for (int64_t s = 0; s < samples; ++s) {
    const float* key = keys.Rows(s * (keys.rows() / samples), 1, scratch.data());
    for (int64_t i = 0; i < dim; ++i) sums[i] += key[i];
  }
  std::vector<float> mean(static_cast<size_t>(dim));
  for (int64_t i = 0; i < dim && samples > 0; ++i) {
    mean[i] = static_cast<float>(sums[i] / static_cast<double>(samples));
    if (!std::isfinite(mean[i])) mean[i] = 0;  // the key that causes it is found below
  }
  return mean;
}

Status NotFinite(const KeyStore& keys, int64_t row) {
  std::vector<float> scratch(static_cast<size_t>(keys.dim()));
  const float* key = keys.Rows(row, 1, scratch.data());
  int64_t column = 0;
  while (column < keys.dim() - 1 && std::isfinite(key[column])) ++column;
  return Status(ErrorCode::kBadData, Text("key row ", row, ", column ", column, " is ", key[column],
                                          "; every value must be finite"));
}

}  // namespace

Result<KeyGeometry> KeyGeometry::Compute(const KeyStore& keys) {
  KeyGeometry geometry;
  geometry.center = SampleMean(keys);
  geometry.half_norms.resize(static_cast<size_t>(keys.rows()));
  std::mutex mutex;
  int64_t first_bad = keys.rows();
  const int64_t grain = keys.RowsPerPiece();
  ParallelFor(0, keys.rows(), grain, [&](int64_t begin, int64_t end, int) {
    std::vector<float> scratch(static_cast<size_t>(grain * keys.dim()));
    const float* rows = keys.Rows(begin, end - begin, scratch.data());
    double largest = 0;
    int64_t bad = keys.rows();
    for (int64_t row = begin; row < end; ++row) {
      // In double the sum of finite floats is finite.
      const double squared =
          SquaredDistance(rows + (row - begin) * keys.dim(), geometry.center.data(), keys.dim());
      if (!std::isfinite(squared)) bad = std::min(bad, row);
      const bool hidden = keys.hidden(row);
      if (!hidden) largest = std::max(largest, squared);
      geometry.half_norms[row] =
          hidden ? std::numeric_limits<float>::infinity() : static_cast<float>(0.5 * squared);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    geometry.largest_norm = std::max(geometry.largest_norm, std::sqrt(largest));
    first_bad = std::min(first_bad, bad);
  });
  if (first_bad < keys.rows()) return NotFinite(keys, first_bad);
  return geometry;
}

}  // namespace resmem
