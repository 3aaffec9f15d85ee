#include "search/first_pass/row_scan_kernel.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

// Whole numbers are exact in float, so that the values are known whatever the order of sums.
TEST(ScanRows, FindsExactlyTheRowsNotAboveTheThreshold) {
  Random random(1);
  for (int64_t dim = 1; dim <= 130; ++dim) {
    std::vector<float> keys(static_cast<size_t>(20 * dim)), query(static_cast<size_t>(dim));
    for (float& value : keys) value = static_cast<float>(random.Below(9));
    for (float& value : query) value = static_cast<float>(random.Below(9));
    std::vector<RowBelow> expected;
    const float threshold = 13.0f * static_cast<float>(dim);
    for (int32_t row = 0; row < 20; ++row) {
      float sum = 0;
      for (int64_t i = 0; i < dim; ++i) {
        sum += (query[i] - keys[row * dim + i]) * (query[i] - keys[row * dim + i]);
      }
      if (sum <= threshold) expected.push_back({sum, row});
    }
    AtEverySimdLevel([&] {
      RowBelow found[20];
      const int64_t count = ScanRows(query.data(), keys.data(), 20, dim, threshold, found);
      ASSERT_EQ(count, static_cast<int64_t>(expected.size())) << "dim " << dim;
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(found[i].row, expected[i].row);
        ASSERT_EQ(found[i].value, expected[i].value);
      }
    });
  }
}

}  // namespace
}  // namespace resmem
