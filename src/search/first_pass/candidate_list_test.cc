#include "search/first_pass/candidate_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/random.h"

namespace resmem {
namespace {

TEST(CandidateList, KeepsEveryRowThatCanBeAmongTheNearest) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const int64_t k = 1 + static_cast<int64_t>(random.Below(40));
    const double width = seed % 2 == 0 ? 1e-4 : 1e-2;
    CandidateList list(k), other(k);
    std::vector<std::pair<double, int64_t>> truth;
    for (int64_t row = 0; row < 2000; ++row) {
      const double value = random.Normal();
      truth.emplace_back(value, row);
      const double below = width * random.Uniform(), above = width * random.Uniform();
      CandidateList& half = row % 3 == 0 ? other : list;
      if (value - below <= half.bound()) {
        half.Offer(static_cast<float>(value - below), static_cast<float>(value + above), row);
      }
    }
    list.OfferAll(other);
    ASSERT_TRUE(list.Decide(1e38f));
    const std::set<int64_t> kept(list.rows().begin(), list.rows().end());
    std::sort(truth.begin(), truth.end());
    for (int64_t i = 0; i < k; ++i) ASSERT_TRUE(kept.count(truth[i].second)) << "place " << i;
    EXPECT_LE(kept.size(), static_cast<size_t>(2 * k + 60)) << "useless rows were dropped";
  }
}

TEST(CandidateList, GivesUpWhereBoundsCannotTellRowsApart) {
  CandidateList list(10);
  for (int64_t row = 0; row < 100000; ++row) list.Offer(0.9f, 1.1f, row);
  EXPECT_TRUE(list.overflowed());
  EXPECT_FALSE(list.Decide(1e38f));
}

TEST(CandidateList, DoesNotDecideOnFewerThanKRowsNorBeyondTheLargestBound) {
  CandidateList list(3);
  list.Offer(1, 1, 0);
  list.Offer(2, 2, 1);
  EXPECT_FALSE(list.Decide(1e38f));
  list.Offer(3, 3, 2);
  EXPECT_FALSE(list.Decide(2.5f));
  EXPECT_TRUE(list.Decide(3.5f));
}

TEST(CandidateList, DecidesNothingWhereABoundFromElsewhereWasTooLow) {
  for (const float guess : {1.5f, 3.0f, 4.0f}) {
    CandidateList list(3);
    list.LowerBound(guess);
    for (int64_t row = 1; row <= 5; ++row) {
      const float value = static_cast<float>(row);
      if (value <= list.bound()) list.Offer(value, value, row);
    }
    EXPECT_EQ(list.bound_was_too_low(), guess < 3);
    EXPECT_EQ(list.Decide(1e38f), guess >= 3);
  }
}

}  // namespace
}  // namespace resmem
