#include "base_model/trainer.h"

#include <gtest/gtest.h>

namespace resmem {
namespace {

TEST(RateShare, WarmsUpThenFallsToNearlyNothing) {
  constexpr int64_t kSteps = 1000;
  EXPECT_LT(RateShare(0, kSteps), 0.03);
  EXPECT_EQ(RateShare(kSteps / 20, kSteps), 1.0);
  EXPECT_LT(RateShare(kSteps - 1, kSteps), 1e-4);
  for (int64_t step = 1; step < kSteps; ++step) {
    const bool rising = RateShare(step, kSteps) > RateShare(step - 1, kSteps);
    EXPECT_EQ(rising, step <= kSteps / 20) << step;
  }
}

TEST(RateShare, OfASingleStepIsWhole) {
  EXPECT_EQ(RateShare(0, 1), 1.0);
}

TEST(Standardizer, GivesMeanZeroAndDeviationOneAndIgnoresConstants) {
  const std::vector<float> values = {1, 5,   1e-30f, 3, 5,
                                     0, 100, 5,      0};  // the last row is not fitted
  const MatrixView inputs(values.data(), 3, 3);
  const std::vector<int64_t> rows = {0, 1};
  const Standardizer standardizer = FitStandardizer(inputs, rows, 1);
  std::vector<float> out(3);
  standardizer.Apply(inputs.row(0), out.data());
  EXPECT_EQ(out, (std::vector<float>{-1, 0, 1}));
  standardizer.Apply(inputs.row(2), out.data());
  EXPECT_EQ(out, (std::vector<float>{kStandardLimit, 0, -1}));
}

}  // namespace
}  // namespace resmem
