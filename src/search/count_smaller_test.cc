#include "search/count_smaller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

TEST(CountSmaller, CountsAtEveryLevelAndLength) {
  AtEverySimdLevel([] {
    for (const int64_t count : {0, 1, 7, 8, 9, 50, 255}) {
      Random random(static_cast<uint64_t>(count));
      std::vector<double> values(static_cast<size_t>(count));
      for (double& value : values) value = static_cast<double>(random.Below(40)) - 20;  // ties
      if (count > 8) values[3] = std::numeric_limits<double>::infinity();
      std::vector<int32_t> smaller(values.size() + 1, -7);
      CountSmaller(values.data(), count, smaller.data());
      for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(smaller[i], std::count_if(values.begin(), values.end(),
                                            [&](double other) { return other < values[i]; }))
            << i << " of " << count;
      }
      EXPECT_EQ(smaller.back(), -7);
    }
  });
}

}  // namespace
}  // namespace resmem
