#include "search/keep_nearest.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random.h"

namespace resmem {
namespace {

// Many distances, or so few that most rows are as far as another one.
void ExpectThoseOfASort(int64_t count, int64_t k, uint64_t distances) {
  Random random(static_cast<uint64_t>(count * 1000 + k));
  std::vector<MeasuredRow> rows;
  for (int64_t row = 0; row < count; ++row) {
    rows.push_back({static_cast<double>(random.Below(distances)), (row * 7919) % 100003});
  }
  std::vector<MeasuredRow> expected = rows;
  std::sort(expected.begin(), expected.end());
  expected.resize(static_cast<size_t>(std::min(k, count)));
  KeepNearest(k, &rows);
  ASSERT_EQ(rows.size(), expected.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].row, expected[i].row) << i;
    EXPECT_EQ(rows[i].squared_distance, expected[i].squared_distance) << i;
  }
}

TEST(KeepNearest, AreThoseOfASortWhateverTheirNumberAndTies) {
  for (const int64_t count : {0, 1, 2, 51, 62, 255, 256, 257, 1000}) {
    for (const int64_t k : {0, 1, 10, 50, 256, 300}) {
      for (const uint64_t distances : {uint64_t{1}, uint64_t{5}, uint64_t{1} << 40}) {
        SCOPED_TRACE(testing::Message() << count << " rows, k = " << k << ", " << distances);
        ExpectThoseOfASort(count, k, distances);
      }
    }
  }
}

// Only the farthest of those kept is as far as others, which are not.
TEST(KeepNearest, OfRowsEquallyFarAtTheEndTheLowestIsKept) {
  std::vector<MeasuredRow> rows = {{4, 9}, {1, 5}, {4, 2}, {0, 7}, {4, 6}};
  KeepNearest(3, &rows);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].row, 7);
  EXPECT_EQ(rows[1].row, 5);
  EXPECT_EQ(rows[2].row, 2);
}

}  // namespace
}  // namespace resmem
