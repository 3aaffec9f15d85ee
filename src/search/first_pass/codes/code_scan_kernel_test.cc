#include "search/first_pass/codes/code_scan_kernel.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

// Whole numbers small enough to be exact in float, whatever the order of sums.
TEST(ScanCodes, FindsExactlyTheRowsWithinReach) {
  Random random(1);
  constexpr int64_t kRows = 71;  // a round, and a rest
  for (int64_t dim = 1; dim <= 140; ++dim) {
    std::vector<int8_t> codes(static_cast<size_t>(kRows * dim));
    std::vector<int16_t> query(static_cast<size_t>(dim));
    for (int8_t& code : codes) code = static_cast<int8_t>(random.Below(19)) - 9;
    for (int16_t& code : query) code = static_cast<int16_t>(random.Below(19)) - 9;
    std::vector<float> scales, norms, errors;
    float query_norm = 0;
    for (const int16_t code : query) query_norm += static_cast<float>(code * code);
    for (int64_t row = 0; row < kRows; ++row) {
      scales.push_back(static_cast<float>(1 + random.Below(3)));
      errors.push_back(static_cast<float>(random.Below(4)));
      float norm = 0;
      for (int64_t i = 0; i < dim; ++i) {
        norm += scales[row] * scales[row] * static_cast<float>(codes[row * dim + i]) *
                static_cast<float>(codes[row * dim + i]);
      }
      norms.push_back(row % 7 == 3 ? std::numeric_limits<float>::infinity() : norm);
    }
    const float reach = static_cast<float>(8 + dim / 8);
    std::vector<RowBelow> expected;
    for (int32_t row = 0; row < kRows; ++row) {
      float value = 0;
      for (int64_t i = 0; i < dim; ++i) {
        const float difference =
            static_cast<float>(query[i]) - scales[row] * static_cast<float>(codes[row * dim + i]);
        value += difference * difference;
      }
      const float radius = reach + errors[row];
      if (row % 7 != 3 && value <= radius * radius) expected.push_back({value, row});
    }
    AtEverySimdLevel([&] {
      RowBelow found[kRows];
      const int64_t count = ScanCodes({query.data(), query_norm, 2},
                                      {codes.data(), scales.data(), norms.data(), errors.data()},
                                      kRows, dim, reach, found);
      ASSERT_EQ(count, static_cast<int64_t>(expected.size())) << "dim " << dim;
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(found[i].row, expected[i].row);
        ASSERT_EQ(found[i].value, expected[i].value);
      }
    });
  }
}

TEST(ScanCodes, LargestCodesDoNotOverflow) {
  for (const int64_t dim : {1, 64, 512, 513, 1280, 65536, 132000}) {
    const int32_t largest = LargestQueryCode(dim);
    ASSERT_GE(largest, 127);
    ASSERT_LE(largest, INT16_MAX);
    const std::vector<int16_t> query(static_cast<size_t>(dim), static_cast<int16_t>(largest));
    const std::vector<int8_t> codes(static_cast<size_t>(5 * dim), -128);
    const float scales[] = {1, 1, 1, 1, 1}, zeros[] = {0, 0, 0, 0, 0};
    AtEverySimdLevel([&] {
      RowBelow found[5];
      ASSERT_EQ(ScanCodes({query.data(), 0, 1}, {codes.data(), scales, zeros, zeros}, 5, dim, 1e10f,
                          found),
                5);
      for (const RowBelow& row : found) {
        ASSERT_EQ(row.value, static_cast<float>(128 * dim * largest)) << "dim " << dim;
      }
    });
  }
  EXPECT_EQ(LargestQueryCode(int64_t{1} << 18), 0);
}

}  // namespace
}  // namespace resmem
