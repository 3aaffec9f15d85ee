#include <gtest/gtest.h>

#include <limits>

#include "kernels/every_simd_level.h"
#include "resmem/knn_index.h"
#include "search/reference_search.h"
#include "search/search_test_data.h"

namespace resmem {
namespace {

TEST(ExactIndex, FindsTheNearestInOrderAndPadsTheRest) {
  const std::vector<float> keys = {0, 0, 3, 4, 0, 1};
  auto index = MakeExactIndex(2, {{KeyType::kFloat32, keys.data(), nullptr, 3}});
  ASSERT_TRUE(index.ok()) << index.status().message();
  const float query[] = {0, 0};
  Neighbors found;
  SearchOptions options;
  options.k = 4;
  ASSERT_TRUE((*index)->Search(MatrixView(query, 1, 2), options, &found).ok());
  EXPECT_EQ(found.rows, (std::vector<int64_t>{0, 2, 1, -1}));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(found.distances, (std::vector<float>{0, 1, 5, infinity}));
}

}  // namespace
}  // namespace resmem
