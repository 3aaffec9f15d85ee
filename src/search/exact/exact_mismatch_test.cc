// The small version of bench/check_exact.cc.
#include <gtest/gtest.h>

#include "search/exact/hard_test_data.h"

namespace resmem {
namespace {

TEST(ExactSearch, EveryWayGivesThePlainScansAnswerOnHardData) {
  for (int kind = 0; kind < kHardKinds; ++kind) {
    for (const KeyType type :
         {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8, KeyType::kInt4}) {
      const auto which = static_cast<HardKind>(kind);
      // Half floats end at 65,504: keys beyond are infinite, which is an error and not an answer.
      if (type == KeyType::kFloat16 && which == HardKind::kHugeNorms) continue;
      // Keys of 4 bits end at 2^100.
      if (type == KeyType::kInt4 && which == HardKind::kHugeNorms) continue;
      HardData data = MakeHardData(which, 600, 40, 33, 1);
      if (type == KeyType::kFloat16 && which == HardKind::kMixedScales) {
        for (float& key : data.keys) key *= 1e-3f;
      }
      const MismatchCount count = CountMismatches(data, type, 7);
      EXPECT_GE(count.asked, 66);
      EXPECT_EQ(count.mismatches, 0) << kHardNames[kind] << ", " << KeyTypeName(type);
    }
  }
}

// Enough rows for first bounds from samples, and enough queries for keys that are kept rounded.
TEST(ExactSearch, SampledBoundsLoseNoNeighbor) {
  for (const HardKind kind :
       {HardKind::kClustered, HardKind::kSortedClusters, HardKind::kMixedScales, HardKind::kGrid}) {
    const MismatchCount count =
        CountMismatches(MakeHardData(kind, 4500, 33, 130, 2), KeyType::kFloat32, 20);
    EXPECT_GE(count.asked, 66);
    EXPECT_EQ(count.mismatches, 0) << kHardNames[static_cast<int>(kind)];
  }
}

}  // namespace
}  // namespace resmem
