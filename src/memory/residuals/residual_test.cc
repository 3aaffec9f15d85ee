#include "memory/residuals/residual.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "support/random.h"

namespace resmem {
namespace {

TEST(Residual, MatchesTheDefinitionAndSumsToZero) {
  Random random(1);
  for (int classes : {1, 2, 3, 10, 100, 1000}) {
    for (float temperature : {0.1f, 1.0f, 1.4f, 5.0f}) {
      std::vector<float> logits(static_cast<size_t>(classes)), residual(logits.size());
      for (float& logit : logits) logit = static_cast<float>(5 * random.Normal());
      const auto label = static_cast<int32_t>(random.Below(static_cast<uint64_t>(classes)));
      ClassificationResidual(logits.data(), classes, label, temperature, residual.data());
      double largest = -1e300, total = 0, sum = 0;
      for (float logit : logits) largest = std::max(largest, static_cast<double>(logit));
      for (float logit : logits) total += std::exp((logit - largest) / temperature);
      for (int c = 0; c < classes; ++c) {
        const double p = std::exp((logits[static_cast<size_t>(c)] - largest) / temperature) / total;
        EXPECT_NEAR(residual[static_cast<size_t>(c)], (c == label ? 1 : 0) - p, 1e-6);
        sum += residual[static_cast<size_t>(c)];
      }
      EXPECT_NEAR(sum, 0, 1e-5);
    }
  }
}

TEST(Residual, ExtremeLogitsGiveNoNaN) {
  std::vector<float> logits = {3e38f, -3e38f, 0}, residual(3);
  ClassificationResidual(logits.data(), 3, 1, 0.01f, residual.data());
  EXPECT_EQ(residual, (std::vector<float>{-1, 1, 0}));
}

TEST(Residual, MassIsZeroWhereTheBaseIsRightAndOneWhereItIsWrong) {
  std::vector<float> logits = {100, 0, 0}, residual(3);
  ClassificationResidual(logits.data(), 3, 0, 1, residual.data());
  EXPECT_EQ(ResidualMass(residual.data(), 3), 0);
  ClassificationResidual(logits.data(), 3, 2, 1, residual.data());
  EXPECT_EQ(ResidualMass(residual.data(), 3), 1);
}

TEST(SelectTop, KeepsTheLargestInClassOrderAndReportsTheRest) {
  const std::vector<float> residual = {0.1f, -0.5f, 0.2f, 0.5f, -0.2f, 0.0f};
  uint32_t classes[3];
  float values[3];
  const double dropped = SelectTop(residual.data(), 6, 3, classes, values);
  // |-0.5| and |0.5| first; 0.2 of class 2 beats the equal magnitude of class 4.
  EXPECT_EQ(std::vector<uint32_t>(classes, classes + 3), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(std::vector<float>(values, values + 3), (std::vector<float>{-0.5f, 0.2f, 0.5f}));
  EXPECT_NEAR(dropped, 0.3, 1e-7);
}

TEST(SelectTop, KeepsWhatSortingKeeps) {
  Random random(6);
  for (int trial = 0; trial < 300; ++trial) {
    const auto classes = static_cast<int64_t>(1 + random.Below(500));
    const auto top = static_cast<int64_t>(1 + random.Below(static_cast<uint64_t>(classes)));
    std::vector<float> residual(static_cast<size_t>(classes));
    for (float& value : residual) {
      // Many ties, zeros of both signs, and magnitudes from 1 to below the smallest normal float.
      value = static_cast<float>(static_cast<int>(random.Below(5)) - 2) *
              std::ldexp(1.0f, -static_cast<int>(random.Below(3) * 70));
    }
    std::vector<uint32_t> order(residual.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::fabs(residual[a]) > std::fabs(residual[b]);
    });
    std::sort(order.begin(), order.begin() + top);
    double expected_dropped = 0;
    for (auto c = order.begin() + top; c != order.end(); ++c) {
      expected_dropped += std::fabs(residual[*c]);
    }
    order.resize(static_cast<size_t>(top));
    std::vector<uint32_t> kept(static_cast<size_t>(top));
    std::vector<float> values(static_cast<size_t>(top));
    const double dropped = SelectTop(residual.data(), classes, top, kept.data(), values.data());
    ASSERT_EQ(kept, order);
    for (size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(values[i], residual[kept[i]]);
    ASSERT_NEAR(dropped, expected_dropped, 1e-12 * (1 + expected_dropped));
  }
}

TEST(SelectTop, OfAllClassesDropsNothing) {
  const std::vector<float> residual = {0.3f, -0.3f};
  uint32_t classes[2];
  float values[2];
  EXPECT_EQ(SelectTop(residual.data(), 2, 2, classes, values), 0);
  EXPECT_EQ(classes[0], 0u);
  EXPECT_EQ(classes[1], 1u);
}

}  // namespace
}  // namespace resmem
