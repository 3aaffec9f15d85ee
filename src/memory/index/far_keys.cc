#include "memory/index/far_keys.h"

#include <algorithm>
#include <cmath>

#include "kernels/squared_distance.h"

namespace resmem {
namespace {

constexpr int64_t kMedianRows = 1001;

// Of visible rows at equal steps, value by value.
std::vector<float> MedianKey(const KeyStore& keys) {
  const int64_t step = std::max<int64_t>(1, keys.visible_rows() / kMedianRows);
  std::vector<std::vector<float>> values(static_cast<size_t>(keys.dim()));
  std::vector<float> scratch(values.size());
  int64_t visible = 0;
  for (int64_t row = 0; row < keys.rows(); ++row) {
    if (keys.hidden(row) || visible++ % step != 0) continue;
    const float* key = keys.Rows(row, 1, scratch.data());
    for (size_t i = 0; i < values.size(); ++i) values[i].push_back(key[i]);
  }
  std::vector<float> median;
  for (std::vector<float>& column : values) {
    const auto middle = column.begin() + static_cast<int64_t>(column.size() / 2);
    std::nth_element(column.begin(), middle, column.end());
    median.push_back(*middle);
  }
  return median;
}

}  // namespace

FarKeys FindFarKeys(const KeyStore& keys, double distance) {
  const std::vector<float> middle = MedianKey(keys);
  std::vector<float> scratch(middle.size());
  FarKeys far;
  int64_t farthest_row = -1;
  for (int64_t row = 0; row < keys.rows(); ++row) {
    if (keys.hidden(row)) continue;
    const double found =
        std::sqrt(SquaredDistance(keys.Rows(row, 1, scratch.data()), middle.data(), keys.dim()));
    if (found > distance) far.rows.push_back(row);
    if (farthest_row >= 0 && found <= far.farthest) continue;
    farthest_row = row;
    far.farthest = found;
  }
  if (far.rows.empty()) far.rows.push_back(farthest_row);
  return far;
}

}  // namespace resmem
