#include "search/kept_bytes.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

namespace resmem {
namespace {

TEST(KeptBytes, AllPartsTogetherHaveTheRoomAndGiveItBack) {
  const int64_t half = KeptBytes::Room() / 2;
  ASSERT_GT(half, 0);
  {
    const auto first = KeptBytes::Take(half);
    ASSERT_TRUE(first);
    EXPECT_FALSE(KeptBytes::Take(half + 2));
    const auto second = KeptBytes::Take(half);
    EXPECT_TRUE(second);
    EXPECT_FALSE(KeptBytes::Take(2));
    EXPECT_TRUE(KeptBytes::Take(0));
  }
  EXPECT_TRUE(KeptBytes::Take(2 * half));
  EXPECT_FALSE(KeptBytes::Take(std::numeric_limits<int64_t>::max()));
}

TEST(KeptBytes, APartThatMovedIsGivenBackOnce) {
  const int64_t half = KeptBytes::Room() / 2;
  auto first = KeptBytes::Take(half);
  ASSERT_TRUE(first);
  {
    const KeptBytes moved(*std::move(first));
    first.reset();
    EXPECT_FALSE(KeptBytes::Take(half + 2));
  }
  const auto all = KeptBytes::Take(2 * half);
  ASSERT_TRUE(all);
  EXPECT_FALSE(KeptBytes::Take(2));
}

}  // namespace
}  // namespace resmem
