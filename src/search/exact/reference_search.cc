#include "search/exact/reference_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace resmem {
namespace {

double MeasureAsSpecified(const float* a, const float* b, int64_t n) {
  double lanes[16] = {};
  for (int64_t i = 0; i < n; ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    lanes[i % 16] += difference * difference;
  }
  for (int width : {8, 4, 2, 1}) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

}  // namespace

Neighbors ReferenceSearch(const KeyStore& keys, MatrixView queries, const SearchOptions& options) {
  Neighbors answer;
  answer.queries = queries.rows;
  answer.k = options.k;
  std::vector<float> scratch(static_cast<size_t>(keys.dim()));
  for (int64_t q = 0; q < queries.rows; ++q) {
    std::vector<std::pair<double, int64_t>> measured;
    for (int64_t row = 0; row < keys.rows(); ++row) {
      if (keys.hidden(row) || (!options.exclude.empty() && options.exclude[q] == row)) continue;
      const float* key = keys.Rows(row, 1, scratch.data());
      measured.emplace_back(MeasureAsSpecified(queries.row(q), key, keys.dim()), row);
    }
    std::sort(measured.begin(), measured.end());
    for (int64_t i = 0; i < options.k; ++i) {
      const bool found = i < static_cast<int64_t>(measured.size());
      const double largest = std::numeric_limits<float>::max();
      answer.rows.push_back(found ? measured[i].second : -1);
      answer.distances.push_back(
          found ? static_cast<float>(std::min(std::sqrt(measured[i].first), largest))
                : std::numeric_limits<float>::infinity());
      if (!options.squared) continue;
      answer.squared.push_back(found ? measured[i].first : std::numeric_limits<double>::infinity());
    }
  }
  return answer;
}

}  // namespace resmem
