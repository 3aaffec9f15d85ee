#include "memory/residuals/softmax_residuals.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "kernels/every_simd_level.h"
#include "kernels/vector_math.h"
#include "support/random.h"

namespace resmem {
namespace {

constexpr float kGuard = 12345.0f;

// Rows in arrays of their own, so that a sanitizer sees what is read beyond one.
struct LogitRows {
  LogitRows(int64_t count, int64_t n) {
    Random random(static_cast<uint64_t>(100 * n + count));
    for (int64_t row = 0; row < count; ++row) {
      // Far apart, so that some exponentials are 0, and their negatives -0.
      arrays.emplace_back(static_cast<size_t>(n));
      for (float& value : arrays.back()) value = static_cast<float>(40 * random.Normal());
      places.push_back(arrays.back().data());
      // The last class, one twice in a row, and any.
      labels.push_back(row == 0   ? static_cast<int32_t>(n - 1)
                       : row == 2 ? labels.back()
                                  : static_cast<int32_t>(random.Below(static_cast<uint64_t>(n))));
      weights.push_back(static_cast<float>(random.Uniform()));
    }
  }
  std::vector<std::vector<float>> arrays;
  std::vector<const float*> places;
  std::vector<int32_t> labels;
  std::vector<float> weights;

  std::vector<const int32_t*> label_places() const {
    std::vector<const int32_t*> found;
    for (const int32_t& label : labels) found.push_back(&label);
    return found;
  }
};

TEST(SoftmaxResiduals, AreThoseOfASoftmaxAndAnAdditionForEachRow) {
  for (const int64_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257, 1000, 2049}) {
    for (const int64_t count : {0, 1, 2, 3, 4, 5, 6, 7, 8, 11}) {
      const LogitRows rows(count, n);
      for (const float temperature : {1.0f, 1.3f}) {
        std::vector<float> expected(static_cast<size_t>(n), -0.0f), residual(expected.size());
        for (size_t j = 0; j < rows.places.size(); ++j) {
          NegativeSoftmax(rows.places[j], n, temperature, residual.data());
          residual[static_cast<size_t>(rows.labels[j])] += 1.0f;
          AddScaled(rows.weights[j], residual.data(), n, expected.data());
        }
        AtEverySimdLevel([&] {
          std::vector<float> sum(static_cast<size_t>(n) + 16, kGuard);
          std::fill_n(sum.begin(), n, -0.0f);
          std::vector<float> scratch(static_cast<size_t>(ResidualScratch(n)));
          AddSoftmaxResiduals(rows.weights.data(), rows.places.data(), rows.label_places().data(),
                              count, n, temperature, scratch.data(), sum.data());
          for (size_t i = 0; i < sum.size(); ++i) {
            const float wanted = i < expected.size() ? expected[i] : kGuard;
            ASSERT_EQ(std::bit_cast<uint32_t>(sum[i]), std::bit_cast<uint32_t>(wanted))
                << count << " rows of " << n << ", position " << i;
          }
        });
      }
    }
  }
}

TEST(SoftmaxResiduals, ALabelThatIsNoneChangesNothingElse) {
  LogitRows rows(4, 20);
  rows.labels = {20, -1, 31, 5};  // two of them behind the end of the sum
  AtEverySimdLevel([&] {
    std::vector<float> sum(64, kGuard), scratch(static_cast<size_t>(ResidualScratch(20)));
    std::fill_n(sum.begin(), 20, 0.0f);
    AddSoftmaxResiduals(rows.weights.data(), rows.places.data(), rows.label_places().data(), 4, 20,
                        1.0f, scratch.data(), sum.data());
    float total = 0;
    for (size_t i = 0; i < 20; ++i) total += sum[i];
    EXPECT_NEAR(total, -rows.weights[0] - rows.weights[1] - rows.weights[2], 1e-5);
    for (size_t i = 20; i < sum.size(); ++i) EXPECT_EQ(sum[i], kGuard);
  });
}

}  // namespace
}  // namespace resmem
