#include "kernels/long_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

constexpr int64_t kLengths[] = {1, 2, 15, 16, 17, 100, 1024, 5000};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> RandomFloats(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = static_cast<float>(std::exp(3 * random.Normal()));
  for (float& value : values) value = random.Below(2) == 0 ? value : -value;
  return values;
}

TEST(LongRow, OneValueBeyondTheLimitIsSeenWhereverItLies) {
  AtEverySimdLevel([] {
    for (const int64_t n : {1, 7, 16, 37}) {
      std::vector<float> values(static_cast<size_t>(n), -2.0f);
      EXPECT_TRUE(AllWithin(values.data(), n, 2));
      for (float& value : values) {
        for (const float bad : {2.1f, -2.1f, kInfinity, std::nanf("")}) {
          value = bad;
          EXPECT_FALSE(AllWithin(values.data(), n, 2)) << bad;
        }
        value = -2;
      }
    }
    EXPECT_TRUE(AllWithin(nullptr, 0, 1));
  });
}

TEST(LongRow, SumsAreThoseOfTheDefinitionAndTheSameBitsEverywhere) {
  for (const int64_t n : kLengths) {
    const std::vector<float> values = RandomFloats(n, 3);
    double all = 0, small = 0, squares = 0;
    for (const float value : values) {
      const double magnitude = std::abs(static_cast<double>(value));
      all += magnitude;
      if (magnitude < 1.5) small += magnitude;
      squares += magnitude * magnitude;
    }
    std::vector<double> first;
    AtEverySimdLevel([&] {
      const std::vector<double> sums = {SumMagnitudes(values.data(), n, kInfinity),
                                        SumMagnitudes(values.data(), n, 1.5f),
                                        SumOfSquares(values.data(), n)};
      EXPECT_NEAR(sums[0], all, 1e-12 * all);
      EXPECT_NEAR(sums[1], small, 1e-12 * all);
      EXPECT_NEAR(sums[2], squares, 1e-12 * squares);
      if (first.empty()) first = sums;
      EXPECT_EQ(sums, first);
    });
  }
  // What equals the bound is not below it.
  const float equal[] = {2, -2, 1};
  EXPECT_EQ(SumMagnitudes(equal, 3, 2), 1);
}

TEST(LongRow, TheLargestMagnitudesAreFoundWithAllThatEqualThem) {
  AtEverySimdLevel([] {
    for (const int64_t n : kLengths) {
      for (const int64_t top : {int64_t{1}, int64_t{5}, n / 2, n}) {
        if (top < 1 || top > n) continue;
        std::vector<float> values = RandomFloats(n, static_cast<uint64_t>(n));
        for (size_t i = 0; i < values.size(); i += 3)
          values[i] = i % 2 == 0 ? 2.0f : -2.0f;  // ties
        std::vector<float> sorted;
        for (const float value : values) sorted.push_back(std::abs(value));
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        const float smallest = sorted[static_cast<size_t>(top - 1)];
        std::vector<int32_t> positions = {77};
        FindLargeMagnitudes(values.data(), n, top, &positions);
        ASSERT_EQ(std::adjacent_find(positions.begin(), positions.end(), std::greater_equal<>()),
                  positions.end());
        for (int32_t i = 0; i < n; ++i) {
          if (std::abs(values[static_cast<size_t>(i)]) < smallest) continue;
          ASSERT_TRUE(std::binary_search(positions.begin(), positions.end(), i)) << n << " " << i;
        }
        // A long row is not handed back as it is.
        if (n == 5000 && top == 5) {
          EXPECT_LT(positions.size(), 10u);
        }
      }
    }
  });
}

}  // namespace
}  // namespace resmem
