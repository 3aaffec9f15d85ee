#include "resmem_program/merge_neighbors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "search/exact/hard_test_data.h"
#include "support/random.h"

namespace resmem {
namespace {

constexpr int64_t kDim = 24, kRows = 211, kQueries = 17, kNeighbors = 20;

std::unique_ptr<KnnIndex> IndexOf(std::span<const float> keys) {
  KeyBlock block;
  block.data = keys.data();
  block.rows = static_cast<int64_t>(keys.size()) / kDim;
  return MakeExactIndex(kDim, {block}).value();
}

// Rows [bounds[i], bounds[i + 1]) are shard i.
Neighbors Merged(std::span<const float> keys, MatrixView queries, std::vector<int64_t> bounds) {
  std::vector<Neighbors> found(bounds.size() - 1);
  std::vector<ShardNeighbors> shards;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    const auto index = IndexOf(keys.subspan(bounds[i] * kDim, (bounds[i + 1] - bounds[i]) * kDim));
    SearchOptions options;
    options.k = kNeighbors;
    options.squared = true;
    EXPECT_TRUE(index->Search(queries, options, &found[i]).ok());
    shards.push_back({&found[i], bounds[i]});
  }
  Neighbors merged;
  EXPECT_TRUE(MergeNeighbors(shards, kNeighbors, &merged).ok());
  return merged;
}

std::vector<int64_t> EvenBounds(int64_t shards) {
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i <= shards; ++i) bounds.push_back(kRows * i / shards);
  return bounds;
}

void ExpectSame(const Neighbors& a, const Neighbors& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.distances, b.distances);
  EXPECT_EQ(a.squared, b.squared);
}

// Values of a few steps: many equal distances, also between rows of different shards.
std::vector<float> Coarse(int64_t rows, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(rows * kDim));
  for (float& value : values) value = static_cast<float>(random.Below(2));
  return values;
}

TEST(MergeNeighbors, AnyCutGivesTheBitsOfOneIndex) {
  const std::vector<float> keys = Coarse(kRows, 1), asked = Coarse(kQueries, 2);
  const MatrixView queries(asked.data(), kQueries, kDim);
  const Neighbors whole = Merged(keys, queries, {0, kRows});
  SearchOptions options;
  options.k = kNeighbors;
  Neighbors searched;
  ASSERT_TRUE(IndexOf(keys)->Search(queries, options, &searched).ok());
  EXPECT_EQ(whole.rows, searched.rows);
  EXPECT_EQ(whole.distances, searched.distances);
  EXPECT_TRUE(searched.squared.empty());
  for (const int64_t shards : {2, 3, 4, 7, 50, 211}) {
    SCOPED_TRACE(shards);
    ExpectSame(Merged(keys, queries, EvenBounds(shards)), whole);
  }
  Random random(3);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<int64_t> bounds = {0, kRows};
    for (int i = 0; i < 5; ++i) bounds.push_back(static_cast<int64_t>(random.Below(kRows - 1)) + 1);
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    ExpectSame(Merged(keys, queries, bounds), whole);
  }
}

// The square roots round to one float: only the squares tell which row is nearer.
TEST(MergeNeighbors, NearTiesAreOrderedByTheirSquares) {
  std::vector<float> keys(2 * kDim, 0.0f);
  keys[0] = 4096.0f;
  keys[1] = 0.25f;       // squared distance 2^24 + 2^-4
  keys[kDim] = 4096.0f;  // 2^24: nearer, though its row comes later
  const std::vector<float> query(kDim, 0.0f);
  const MatrixView queries(query.data(), 1, kDim);
  const Neighbors merged = Merged(keys, queries, {0, 1, 2});
  ASSERT_EQ(merged.distances[0], merged.distances[1]);
  EXPECT_EQ(merged.rows[0], 1);
  EXPECT_EQ(merged.rows[1], 0);
}

TEST(MergeNeighbors, ShardsWithFewerRowsThanKLeaveNoGaps) {
  const std::vector<float> keys = Coarse(5, 4), asked = Coarse(3, 5);
  const Neighbors merged = Merged(keys, MatrixView(asked.data(), 3, kDim), {0, 1, 3, 5});
  for (int64_t q = 0; q < 3; ++q) {
    std::vector<int64_t> rows(merged.rows_of(q).begin(), merged.rows_of(q).end());
    EXPECT_TRUE(std::all_of(rows.begin() + 5, rows.end(), [](int64_t row) { return row == -1; }));
    std::sort(rows.begin(), rows.begin() + 5);
    EXPECT_TRUE(
        std::equal(rows.begin(), rows.begin() + 5, std::vector<int64_t>{0, 1, 2, 3, 4}.begin()));
  }
}

TEST(MergeNeighbors, RefusesWhatCannotBeMerged) {
  const std::vector<float> keys = Coarse(kRows, 1), asked = Coarse(2, 2);
  const auto index = IndexOf(keys);
  SearchOptions options;
  options.k = 3;
  Neighbors plain, squared, other, merged;
  ASSERT_TRUE(index->Search(MatrixView(asked.data(), 2, kDim), options, &plain).ok());
  options.squared = true;
  ASSERT_TRUE(index->Search(MatrixView(asked.data(), 2, kDim), options, &squared).ok());
  ASSERT_TRUE(index->Search(MatrixView(asked.data(), 1, kDim), options, &other).ok());
  const auto merge = [&](std::vector<ShardNeighbors> shards, int64_t k) {
    return MergeNeighbors(shards, k, &merged).code();
  };
  EXPECT_EQ(merge({{&squared, 0}}, 3), ErrorCode::kOk);
  EXPECT_EQ(merge({{&plain, 0}}, 3), ErrorCode::kInvalidArgument);
  EXPECT_EQ(merge({{&squared, 0}}, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(merge({{&squared, 0}, {&other, kRows}}, 3), ErrorCode::kInvalidArgument);
  EXPECT_EQ(merge({}, 3), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace resmem
