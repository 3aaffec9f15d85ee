#include "eval/privacy/separation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random.h"

namespace resmem {
namespace {

std::vector<double> Normals(int64_t count, double mean, uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(mean + random.Normal());
  return values;
}

// The definition, pair by pair.
double AucOf(const std::vector<double>& members, const std::vector<double>& held_out) {
  double sum = 0;
  for (const double in : members) {
    for (const double out : held_out) sum += in > out ? 1 : in == out ? 0.5 : 0;
  }
  return sum / static_cast<double>(members.size() * held_out.size());
}

TEST(SeparationTest, AucIsTheShareOfOrderedPairs) {
  std::vector<double> members = Normals(70, 0.5, 1), held_out = Normals(90, 0, 2);
  for (double& value : members) value = std::round(4 * value) / 4;  // with ties
  for (double& value : held_out) value = std::round(4 * value) / 4;
  EXPECT_NEAR(Ranking(members, held_out).auc(), AucOf(members, held_out), 1e-12);
  EXPECT_NEAR(Ranking(held_out, members).auc(), 1 - AucOf(members, held_out), 1e-12);
}

TEST(SeparationTest, CertainAndConstantCluesAreKnown) {
  const std::vector<double> low = {1, 2, 3}, high = {4, 5}, same = {7, 7, 7};
  const Separation certain = Ranking(high, low).separation();
  EXPECT_EQ(certain.auc, 1);
  EXPECT_EQ(certain.interval.low, 1);
  EXPECT_EQ(certain.tpr_at_1_percent, 1);
  const Separation none = Ranking(same, same).separation();
  EXPECT_EQ(none.auc, 0.5);
  EXPECT_EQ(none.tpr_at_1_percent, 0);
}

// 200 held-out rows: at 1 % two may pass, at 0.1 % none.
TEST(SeparationTest, ThresholdsLetNoMoreHeldOutRowsPassThanAllowed) {
  std::vector<double> held_out;
  for (int i = 0; i < 200; ++i) held_out.push_back(i);
  const std::vector<double> members = {0, 196.5, 197, 197.5, 198.5, 199, 199.5, 300};
  const Separation separation = Ranking(members, held_out).separation();
  EXPECT_EQ(separation.tpr_at_1_percent, 5.0 / 8);
  EXPECT_EQ(separation.tpr_at_0_1_percent, 2.0 / 8);
}

TEST(SeparationTest, IntervalsHoldTheTruthAboutNineteenTimesInTwenty) {
  const double truth = 0.5 * std::erfc(-0.5 / 2);  // of two normals 0.5 apart
  constexpr int kRuns = 400;
  int held = 0, difference_held = 0;
  for (uint64_t run = 0; run < kRuns; ++run) {
    const std::vector<double> members = Normals(80, 0.5, 3 * run),
                              held_out = Normals(60, 0, 3 * run + 1);
    const Ranking ranking(members, held_out);
    const Interval interval = ranking.separation().interval;
    held += interval.low <= truth && truth <= interval.high;
    // A second clue that is as good: the first and noise in both, whose AUCs are equal in truth.
    std::vector<double> other_in = members, other_out = held_out;
    const std::vector<double> in_noise = Normals(80, 0, 3 * run + 2),
                              out_noise = Normals(60, 0, 7 * run + 5);
    for (size_t i = 0; i < other_in.size(); ++i)
      other_in[i] = 0.5 + 0.8 * (members[i] - 0.5) + 0.6 * in_noise[i];
    for (size_t i = 0; i < other_out.size(); ++i)
      other_out[i] = 0.8 * held_out[i] + 0.6 * out_noise[i];
    const Interval difference = ranking.DifferenceInterval(Ranking(other_in, other_out));
    difference_held += difference.low <= 0 && 0 <= difference.high;
  }
  EXPECT_GT(held, kRuns * 0.91);
  EXPECT_LT(held, kRuns * 0.985);
  EXPECT_GT(difference_held, kRuns * 0.91);
  EXPECT_LT(difference_held, kRuns * 0.985);
}

}  // namespace
}  // namespace resmem
