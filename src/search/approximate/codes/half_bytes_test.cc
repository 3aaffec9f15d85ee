#include "search/approximate/codes/half_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/every_simd_level.h"
#include "search/approximate/codes/list_scan_kernel.h"
#include "support/random.h"

namespace resmem {
namespace {

std::vector<float> NormalValues(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

double ShareLost(const std::vector<float>& x, const std::vector<int8_t>& codes, float scale) {
  double error = 0, square = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double lost = x[i] - static_cast<double>(scale) * codes[i];
    error += lost * lost;
    square += static_cast<double>(x[i]) * x[i];
  }
  return error / square;
}

TEST(HalfBytes, EveryRowComesBackFromItsBlockAtEveryLevel) {
  AtEverySimdLevel([] {
    for (const int64_t width : {64, 320}) {
      constexpr int64_t kBlocks = 3;
      Random random(static_cast<uint64_t>(width));
      std::vector<uint8_t> packed(static_cast<size_t>(kBlocks * kBlockRows * HalfBytes(width)));
      std::vector<int8_t> codes(static_cast<size_t>(kBlocks * kBlockRows * width));
      std::vector<uint8_t> row_bytes(static_cast<size_t>(HalfBytes(width)));
      for (int8_t& code : codes) code = static_cast<int8_t>(16 * random.Below(16)) - 120;
      for (int64_t row = 0; row < kBlocks * kBlockRows; ++row) {
        PackHalfBytes(codes.data() + row * width, width, row_bytes.data());
        for (int64_t i = 0; i < HalfBytes(width); ++i) {
          packed[row / kBlockRows * kBlockRows * HalfBytes(width) + i / 4 * 64 +
                 row % kBlockRows * 4 + i % 4] = row_bytes[i];
        }
      }
      std::vector<uint8_t> unpacked(codes.size());
      UnpackHalfBytes(packed.data(), kBlocks, width, unpacked.data());
      for (int64_t row = 0; row < kBlocks * kBlockRows; ++row) {
        for (int64_t i = 0; i < width; ++i) {
          ASSERT_EQ(unpacked[row / kBlockRows * kBlockRows * width + i / 4 * 64 +
                             row % kBlockRows * 4 + i % 4],
                    codes[row * width + i] + 128)
              << "row " << row << ", code " << i;
        }
      }
    }
  });
}

TEST(HalfBytes, ScaleAndCodesAreTheSameBitsAtEveryLevel) {
  for (const int64_t count : {1, 15, 16, 17, 64, 300}) {
    const std::vector<float> x = NormalValues(count, static_cast<uint64_t>(count));
    std::vector<int8_t> expected(x.size()), codes(x.size());
    const float scale = QuantizeHalfBytes(x.data(), count, expected.data());
    AtEverySimdLevel([&] {
      EXPECT_EQ(QuantizeHalfBytes(x.data(), count, codes.data()), scale);
      EXPECT_EQ(codes, expected);
    });
  }
}

// Sixteen evenly spaced numbers for normal values: at best 0.0115 of their variance is lost.
TEST(HalfBytes, LoseLittleMoreThanTheBestStepWhateverTheScale) {
  for (const float scale : {1e-30f, 1e-12f, 1.0f, 1e12f}) {
    double lost = 0;
    constexpr int kRows = 100;
    for (int row = 0; row < kRows; ++row) {
      std::vector<float> x = NormalValues(256, static_cast<uint64_t>(row));
      for (float& value : x) value *= scale;
      std::vector<int8_t> codes(x.size());
      lost += ShareLost(x, codes, QuantizeHalfBytes(x.data(), 256, codes.data())) / kRows;
    }
    EXPECT_LT(lost, 0.0125) << "scale " << scale;
    EXPECT_GT(lost, 0.01) << "scale " << scale;
  }
}

TEST(HalfBytes, FewLargeValuesDoNotTakeTheStepsOfTheOthers) {
  std::vector<float> x = NormalValues(256, 3);
  x[10] = 5;
  std::vector<int8_t> codes(x.size());
  const double lost = ShareLost(x, codes, QuantizeHalfBytes(x.data(), 256, codes.data()));
  std::vector<int8_t> widest(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    widest[i] = static_cast<int8_t>(16 * std::min(std::floor(x[i] / (5.0 / 8) + 8), 15.0) - 120);
  }
  EXPECT_LT(lost, 0.9 * ShareLost(x, widest, 5.0f / 8 / 16));
}

TEST(HalfBytes, ValuesTooSmallToBeToldFromZeroHaveScaleZero) {
  for (const float value : {0.0f, 1e-45f, -1e-38f}) {
    const std::vector<float> x(20, value);
    std::vector<int8_t> codes(x.size());
    EXPECT_EQ(QuantizeHalfBytes(x.data(), 20, codes.data()), 0.0f) << value;
    for (const int8_t code : codes) EXPECT_EQ(code, kHalfByteOfZero);
  }
}

}  // namespace
}  // namespace resmem
