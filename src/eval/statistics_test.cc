#include "eval/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random.h"

namespace resmem {
namespace {

TEST(WilsonInterval, AgreesWithPublishedValues) {
  // Newcombe, Statistics in Medicine 17 (1998) 857-872, table I: 81 of 263, 15 of 148, 0 of 20.
  const Interval large = WilsonInterval(81, 263);
  EXPECT_NEAR(large.low, 0.2553, 5e-5);
  EXPECT_NEAR(large.high, 0.3662, 5e-5);
  const Interval small = WilsonInterval(15, 148);
  EXPECT_NEAR(small.low, 0.0624, 5e-5);
  EXPECT_NEAR(small.high, 0.1605, 5e-5);
  const Interval none = WilsonInterval(0, 20);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.1611, 5e-5);
}

TEST(WilsonInterval, EndsExactlyAtOneWhereAllAreRight) {
  EXPECT_EQ(WilsonInterval(7, 7).high, 1);
  EXPECT_LT(WilsonInterval(7, 7).low, 1);
}

TEST(WilsonInterval, KnowsNothingWithoutRows) {
  EXPECT_EQ(WilsonInterval(0, 0).low, 0);
  EXPECT_EQ(WilsonInterval(0, 0).high, 1);
}

TEST(PairedInterval, AgreesWithPublishedValues) {
  // Newcombe 1998 (paired data), method 10.
  const Interval all_right = PairedInterval(12, 2, 36, 0);
  EXPECT_NEAR(all_right.low, 0.0569, 5e-5);
  EXPECT_NEAR(all_right.high, 0.3404, 5e-5);
  const Interval mixed = PairedInterval(12, 2, 20, 16);
  EXPECT_NEAR(mixed.low, 0.0562, 5e-5);
  EXPECT_NEAR(mixed.high, 0.3292, 5e-5);
  // Airway hyper-responsiveness (Bentur 2009) in Fagerland, Lydersen and Laake 2014.
  const Interval harm = PairedInterval(1, 7, 1, 12);
  EXPECT_NEAR(harm.low, -0.507, 5e-4);
  EXPECT_NEAR(harm.high, -0.026, 5e-4);
}

TEST(PairedInterval, IsMirroredWhenTheMethodsAreExchanged) {
  const Interval forward = PairedInterval(58, 27, 530, 385);
  const Interval backward = PairedInterval(27, 58, 530, 385);
  EXPECT_DOUBLE_EQ(forward.low, -backward.high);
  EXPECT_DOUBLE_EQ(forward.high, -backward.low);
}

TEST(PairedInterval, KeepsAWidthWhereNoRowChanged) {
  const Interval interval = PairedInterval(0, 0, 36, 14);
  EXPECT_NEAR(interval.low, -0.0491, 5e-5);
  EXPECT_NEAR(interval.high, 0.0491, 5e-5);
}

TEST(McNemarP, AgreesWithPublishedValues) {
  EXPECT_NEAR(McNemarP(12, 2), 0.0129, 5e-5);     // Armitage and Berry 1994, p. 127
  EXPECT_NEAR(McNemarP(1, 7), 0.0703125, 1e-15);  // 2 (1 + 8) / 2^8
  EXPECT_DOUBLE_EQ(McNemarP(5, 0), 0.0625);
}

TEST(McNemarP, IsExactForLargeCounts) {
  // From integer arithmetic in Python.
  EXPECT_NEAR(McNemarP(10000, 9700) / 0.03314531235812818, 1, 1e-9);
  EXPECT_NEAR(McNemarP(589, 270) / 4.801207779954827e-28, 1, 1e-10);
  EXPECT_NEAR(McNemarP(500, 0) / 6.10987272699921e-151, 1, 1e-10);
}

TEST(McNemarP, IsOneWhereNothingSpeaksForEither) {
  EXPECT_EQ(McNemarP(0, 0), 1);
  EXPECT_EQ(McNemarP(3, 3), 1);
  EXPECT_EQ(McNemarP(4, 3), 1);
  EXPECT_EQ(McNemarP(1, 0), 1);
}

TEST(McNemarP, DoesNotDependOnTheOrder) {
  EXPECT_EQ(McNemarP(30, 50), McNemarP(50, 30));
}

TEST(MeanHalfWidth, UsesStudentsQuantile) {
  // Tables of the 97.5 % point: 1, 2, 3, 4, 10 and 30 degrees of freedom.
  EXPECT_NEAR(MeanHalfWidth(std::sqrt(2.0), 2), 12.7062, 1e-4);
  EXPECT_NEAR(MeanHalfWidth(std::sqrt(3.0), 3), 4.3027, 1e-4);
  EXPECT_NEAR(MeanHalfWidth(std::sqrt(4.0), 4), 3.1824, 5e-3);
  EXPECT_NEAR(MeanHalfWidth(std::sqrt(5.0), 5), 2.7764, 1e-3);
  EXPECT_NEAR(MeanHalfWidth(std::sqrt(11.0), 11), 2.2281, 1e-4);
  EXPECT_NEAR(MeanHalfWidth(std::sqrt(31.0), 31), 2.0423, 1e-4);
  EXPECT_TRUE(std::isinf(MeanHalfWidth(1, 1)));
}

TEST(MakePairedGain, GainIsTprMinusFprInIntegers) {
  // The paper's CIFAR-100 run: TPR 5.89 %, FPR 2.70 % of 10,000 rows.
  const PairedGain gain = MakePairedGain(589, 270, 5376, 3765);
  EXPECT_EQ(gain.total, 10000);
  EXPECT_DOUBLE_EQ(gain.tpr, 0.0589);
  EXPECT_DOUBLE_EQ(gain.fpr, 0.0270);
  EXPECT_DOUBLE_EQ(gain.gain, 0.0319);
  EXPECT_GT(gain.interval.low, 0);
  EXPECT_LT(gain.interval.low, gain.gain);
  EXPECT_GT(gain.interval.high, gain.gain);
  EXPECT_LT(gain.p_value, 1e-20);
}

TEST(MakePairedGain, IsZeroWithoutRows) {
  const PairedGain gain = MakePairedGain(0, 0, 0, 0);
  EXPECT_EQ(gain.gain, 0);
  EXPECT_EQ(gain.p_value, 1);
  EXPECT_EQ(gain.interval.low, -1);
  EXPECT_EQ(gain.interval.high, 1);
}

TEST(MakeAccuracy, HoldsTheShareAndItsInterval) {
  const Accuracy accuracy = MakeAccuracy(81, 263);
  EXPECT_DOUBLE_EQ(accuracy.value, 81.0 / 263);
  EXPECT_NEAR(accuracy.interval.low, 0.2553, 5e-5);
}

TEST(DifferenceInterval, AgreesWithPublishedValues) {
  // Newcombe, Statistics in Medicine 17 (1998) 873-890, table II, method 10: 56/70 - 48/80.
  const Interval interval = DifferenceInterval(MakeAccuracy(56, 70), MakeAccuracy(48, 80));
  EXPECT_NEAR(interval.low, 0.0524, 5e-5);
  EXPECT_NEAR(interval.high, 0.3339, 5e-5);
}

TEST(MeanInterval, OfIndependentValuesIsStudents) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const Interval interval = MeanInterval(values, {});
  EXPECT_NEAR(interval.low, 3 - 2.7764 * std::sqrt(2.5 / 5), 1e-3);
  EXPECT_NEAR(interval.high, 3 + 2.7764 * std::sqrt(2.5 / 5), 1e-3);
}

TEST(MeanInterval, OfSlicesOfOneValueIsTheSame) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const std::vector<int32_t> slices = {3, 1, 0, 2, 4};
  EXPECT_NEAR(MeanInterval(values, slices).low, MeanInterval(values, {}).low, 1e-12);
}

// Values that are repeated say nothing more.
TEST(MeanInterval, CountsSlicesAndNotValues) {
  Random random(1);
  std::vector<double> values, repeated;
  std::vector<int32_t> slices;
  for (int32_t slice = 0; slice < 30; ++slice) {
    values.push_back(random.Normal());
    for (int i = 0; i < 50; ++i) {
      repeated.push_back(values.back());
      slices.push_back(slice);
    }
  }
  const Interval once = MeanInterval(values, {}), many = MeanInterval(repeated, slices);
  EXPECT_NEAR(many.low, once.low, 1e-9);
  EXPECT_NEAR(many.high, once.high, 1e-9);
  EXPECT_LT(MeanInterval(repeated, {}).high - once.low, 0.7 * (once.high - once.low));
}

}  // namespace
}  // namespace resmem
