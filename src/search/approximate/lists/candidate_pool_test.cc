#include "search/approximate/lists/candidate_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "search/approximate/lists/centroids.h"
#include "support/random.h"

namespace resmem {
namespace {

TEST(Candidate, OrderIsThatOfValuesThenRows) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const std::vector<Candidate> ascending = {{-kLargest, 9}, {-2, 1}, {-1, 0},       {0, 3},
                                            {0, 4},         {1, 2},  {kLargest, 0}, {kLargest, 7}};
  for (size_t i = 1; i < ascending.size(); ++i) EXPECT_LT(ascending[i - 1], ascending[i]);
  EXPECT_EQ(ascending[1].value(), -2);
  EXPECT_EQ(ascending[6].value(), kLargest);
  EXPECT_EQ(ascending[7].number(), 7u);
}

TEST(CandidatePool, KeepsTheSmallestWhateverTheirNumberAndOrder) {
  Random random(1);
  for (const size_t count : {1u, 5u, 12u, 13u, 40u, 900u, 5000u}) {
    // Few different values: rows decide, and some candidates are offered twice.
    std::vector<Candidate> offered;
    for (size_t i = 0; i < count; ++i) {
      offered.emplace_back(static_cast<float>(random.Below(20)) - 10,
                           static_cast<uint32_t>(random.Below(300)));
    }
    for (const int64_t keep : {1, 7, 100, 1000}) {
      CandidatePool pool(keep);
      for (const Candidate& candidate : offered) {
        if (candidate.value() <= pool.threshold()) pool.Offer(candidate);
      }
      const std::span<Candidate> kept = pool.Kept();
      std::sort(kept.begin(), kept.end());
      std::vector<Candidate> expected = offered;
      std::sort(expected.begin(), expected.end());
      expected.resize(std::min(expected.size(), static_cast<size_t>(keep)));
      ASSERT_EQ(kept.size(), expected.size());
      for (size_t i = 0; i < kept.size(); ++i) {
        EXPECT_EQ(kept[i].value(), expected[i].value());
        EXPECT_EQ(kept[i].number(), expected[i].number());
      }
    }
  }
}

TEST(Centroids, ThreadsFindTheSameListsForOnePoint) {
  constexpr int64_t kLists = 1100, kDim = 1000;  // more than kFewestSharedBytes
  Random random(2);
  std::vector<float> values(kLists * kDim), center(kDim), point(kDim);
  for (float& value : values) value = static_cast<float>(random.Normal());
  for (float& value : point) value = static_cast<float>(random.Normal());
  const Centroids centroids(values.data(), kLists, kDim, center.data());
  CodedVectors points(kDim, 1);
  points.Set(0, point.data(), center.data());
  const auto nearest = [&](int threads) {
    std::vector<CandidatePool> pools(1, CandidatePool(25));
    centroids.Nearest(points, pools, threads);
    std::vector<uint32_t> lists;
    for (const Candidate& list : pools[0].Kept()) lists.push_back(list.number());
    std::sort(lists.begin(), lists.end());
    return lists;
  };
  EXPECT_EQ(nearest(1).size(), 25u);
  EXPECT_EQ(nearest(2), nearest(1));
  EXPECT_EQ(nearest(3), nearest(1));
}

}  // namespace
}  // namespace resmem
