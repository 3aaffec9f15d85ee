#include "support/part_finder.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace resmem {
namespace {

// Every row near a start, and some anywhere, by the definition.
void ExpectFound(const std::vector<int64_t>& starts) {
  const PartFinder finder(starts);
  ASSERT_EQ(finder.end(), starts.back());
  std::vector<int64_t> rows;
  for (const int64_t start : starts) {
    for (int64_t row = start - 3; row <= start + 3; ++row) rows.push_back(row);
  }
  Random random(5);
  for (int i = 0; i < 1000 && starts.back() > 0; ++i) {
    rows.push_back(static_cast<int64_t>(random.Below(static_cast<uint64_t>(starts.back()))));
  }
  for (const int64_t row : rows) {
    if (row < 0 || row >= starts.back()) continue;
    const size_t part = finder.PartOf(row);
    ASSERT_LT(part + 1, starts.size()) << "row " << row;
    EXPECT_LE(finder.start(part), row);
    EXPECT_GT(finder.start(part + 1), row);
  }
}

TEST(PartFinder, NamesThePartThatARowLiesIn) {
  ExpectFound({0});
  ExpectFound({0, 1});
  ExpectFound({0, 1023});
  ExpectFound({0, 1024});
  ExpectFound({0, 5, 7, 1025});
  ExpectFound({0, 262144, 524288, 600000});
  ExpectFound({0, int64_t{1} << 40, (int64_t{1} << 40) + 1, int64_t{1} << 41});
}

TEST(PartFinder, PassesOverPartsWithoutRows) {
  ExpectFound({0, 0, 0, 10, 10, 20, 20});
  ExpectFound({0, 0, 5000, 5000, 5000, 100000, 100000});
}

TEST(PartFinder, FindsAmongManyPartsOfOneSlot) {
  std::vector<int64_t> starts = {0, 1'000'000};
  for (int64_t i = 1; i <= 3000; ++i) starts.push_back(1'000'000 + i);  // appended one by one
  starts.push_back(9'000'000);
  ExpectFound(starts);
}

TEST(PartFinder, WithoutAnyPartHasNoRows) {
  EXPECT_EQ(PartFinder().end(), 0);
}

}  // namespace
}  // namespace resmem
