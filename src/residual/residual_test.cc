#include "residual/residual.h"

#include <gtest/gtest.h>

#include <cmath>
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
