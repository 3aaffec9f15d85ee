#include "search/approximate/ivf_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/every_simd_level.h"
#include "search/approximate/ivf_test_data.h"

namespace resmem {
namespace {

SearchOptions Options(int64_t k, int threads = 0) {
  SearchOptions options;
  options.k = k;
  options.threads = threads;
  return options;
}

Neighbors Find(const KnnIndex& index, MatrixView queries, const SearchOptions& options) {
  Neighbors found;
  const Status status = index.Search(queries, options, &found);
  EXPECT_TRUE(status.ok()) << status.message();
  return found;
}

// With codes of 8 bits and of 4.
class IvfIndexOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Bits, IvfIndexOf, testing::Values(8, 4, 2));

TEST_P(IvfIndexOf, ReachesTheAskedRecallOnQueriesItHasNotSeen) {
  for (const int64_t clusters : {0, 40}) {
    SCOPED_TRACE(testing::Message() << clusters << " clusters");
    constexpr int64_t kDim = 24, kQueries = 300;
    std::vector<float> keys = ClusteredKeys(4000 + kQueries, kDim, clusters, 3);
    const std::vector<float> queries(keys.end() - kQueries * kDim, keys.end());
    keys.resize(4000 * kDim);
    Indexed index(keys, kDim);
    for (const double recall : {0.8, 0.95}) {
      const Status built = index.Build(recall, {.code_bits = GetParam()});
      ASSERT_TRUE(built.ok()) << built.message();
      for (const int64_t k : {1, 10, 50, 200}) {
        SCOPED_TRACE(testing::Message() << "k = " << k);
        EXPECT_GE(MeanRecall(*index.exact, *index.approximate,
                             MatrixView(queries.data(), kQueries, kDim), Options(k)),
                  recall - 0.02);
      }
    }
    // Fewer rows are read than there are, where some are nearer than others.
    if (clusters > 0) {
      EXPECT_LT(index.efforts.front().effort.lists, 30);
      EXPECT_FALSE(index.efforts.front().exact);
      EXPECT_TRUE(index.approximate->Approximate(10));
      EXPECT_FALSE(index.approximate->Approximate(kMostNeighbors + 1));
    }
  }
}

TEST_P(IvfIndexOf, AnswersTheSameForAnyThreadsBatchesAndInstructionSet) {
  constexpr int64_t kDim = 40, kQueries = 60;
  // Many more rows to a cluster than are measured: the codes decide which.
  std::vector<float> keys = ClusteredKeys(3000, kDim, 2, 4);
  const std::vector<float> queries = ClusteredKeys(kQueries, kDim, 2, 4);
  Indexed index(keys, kDim);
  ASSERT_TRUE(index.BuildUntried(/*reach=*/3, {.code_bits = GetParam()}).ok());
  const MatrixView view(queries.data(), kQueries, kDim);
  const Neighbors expected = Find(*index.approximate, view, Options(20, 1));
  AtEverySimdLevel([&] {
    for (const int threads : {1, 2, 3}) {
      const Neighbors found = Find(*index.approximate, view, Options(20, threads));
      EXPECT_EQ(found.rows, expected.rows);
      EXPECT_EQ(found.distances, expected.distances);
    }
    for (int64_t q = 0; q < kQueries; q += 7) {
      const Neighbors alone = Find(*index.approximate, view.Slice(q, 1), Options(20));
      const auto line = expected.rows_of(q);
      EXPECT_EQ(alone.rows, std::vector<int64_t>(line.begin(), line.end()));
    }
  });
}

// The lists' codes are more than kFewestSharedBytes.
TEST_P(IvfIndexOf, AnswersOneQueryThatReadsMuchTheSameOnAnyNumberOfThreads) {
  constexpr int64_t kDim = 1000, kRows = 1300;
  Indexed index(ClusteredKeys(kRows, kDim, 10, 11), kDim);
  ASSERT_TRUE(index.BuildUntried(/*reach=*/40, {.code_bits = GetParam()}).ok());
  for (int64_t q = 0; q < kRows; q += 250) {
    const MatrixView query(index.values.data() + q * kDim, 1, kDim);
    const Neighbors expected = Find(*index.approximate, query, Options(20, 1));
    for (const int threads : {2, 3}) {
      const Neighbors found = Find(*index.approximate, query, Options(20, threads));
      EXPECT_EQ(found.rows, expected.rows);
      EXPECT_EQ(found.distances, expected.distances);
    }
  }
}

TEST(IvfIndex, TheMemorysOwnKHasAnEffortOfItsOwn) {
  constexpr int64_t kDim = 8;
  Indexed index(ClusteredKeys(1500, kDim, 12, 12), kDim);
  ASSERT_TRUE(index.Build(0.9).ok());
  std::vector<int64_t> served;
  for (const MeasuredEffort& choice : index.efforts) served.push_back(choice.effort.k);
  EXPECT_EQ(served, (std::vector<int64_t>{16, 50, 64, 256, 1024}));
}

// Sixty-four independent values a row: no list is nearer than another.
TEST(IvfIndex, WhereListsDoNotPayTheAnswerIsTheExactOne) {
  constexpr int64_t kDim = 64;
  Indexed index(ClusteredKeys(3000, kDim, 0, 13), kDim);
  ASSERT_TRUE(index.Build(0.95).ok());
  ASSERT_TRUE(index.efforts.front().exact);
  EXPECT_FALSE(index.approximate->Approximate(10));
  EXPECT_FALSE(index.exact->Approximate(10));
  const MatrixView queries(index.values.data(), 40, kDim);
  EXPECT_EQ(Find(*index.approximate, queries, Options(10)).rows,
            Find(*index.exact, queries, Options(10)).rows);
}

TEST(IvfIndex, DistancesAreTrueAndNeighborsInOrder) {
  constexpr int64_t kDim = 16;
  Indexed index(ClusteredKeys(2000, kDim, 10, 5), kDim);
  ASSERT_TRUE(index.BuildUntried().ok());
  const Neighbors found =
      Find(*index.approximate, MatrixView(index.values.data(), 50, kDim), Options(30));
  for (int64_t q = 0; q < 50; ++q) {
    EXPECT_EQ(found.rows_of(q)[0], q);  // itself
    for (int64_t i = 0; i < 30; ++i) {
      double squared = 0;
      for (int64_t j = 0; j < kDim; ++j) {
        const double difference =
            index.values[q * kDim + j] - double{index.values[found.rows_of(q)[i] * kDim + j]};
        squared += difference * difference;
      }
      EXPECT_FLOAT_EQ(found.distances_of(q)[i], static_cast<float>(std::sqrt(squared)));
      EXPECT_GE(found.distances_of(q)[i], found.distances_of(q)[std::max<int64_t>(i - 1, 0)]);
    }
  }
}

TEST(IvfIndex, ExcludedAndHiddenRowsAreNotFound) {
  constexpr int64_t kDim = 8;
  std::vector<int64_t> hidden;
  for (int64_t row = 0; row < 1500; row += 3) hidden.push_back(row);
  Indexed index(ClusteredKeys(1500, kDim, 5, 6), kDim, hidden);
  ASSERT_TRUE(index.BuildUntried().ok());
  std::vector<int64_t> exclude(100);
  for (int64_t q = 0; q < 100; ++q) exclude[q] = q;
  SearchOptions options = Options(25);
  options.exclude = exclude;
  const Neighbors found =
      Find(*index.approximate, MatrixView(index.values.data(), 100, kDim), options);
  for (int64_t q = 0; q < 100; ++q) {
    for (const int64_t row : found.rows_of(q)) {
      EXPECT_GE(row, 0);
      EXPECT_NE(row, q);
      EXPECT_NE(row % 3, 0);
    }
  }
}

// Everything near the queries was deleted after the lists were made.
TEST_P(IvfIndexOf, KeepsItsRecallWhenWholeListsWereHiddenLater) {
  constexpr int64_t kDim = 12, kRows = 4000;
  Indexed index(ClusteredKeys(kRows, kDim, 20, 7), kDim);
  ASSERT_TRUE(index.Build(0.9, {.code_bits = GetParam()}).ok());
  const MatrixView queries(index.values.data(), 1, kDim);
  const Neighbors near = Find(*index.exact, queries, Options(kRows * 3 / 4));
  std::vector<int64_t> hidden(near.rows);
  std::sort(hidden.begin(), hidden.end());
  const std::unique_ptr<KnnIndex> exact = MakeExactIndex(kDim, {index.block()}, hidden).value();
  std::vector<IndexedPart> parts(1);
  parts[0].search =
      std::make_unique<ListSearch>(OpenInvertedFile(index.path.get(), kDim, kRows).value(),
                                   KeyStore::Make(kDim, {index.block()}, hidden).value(), hidden);
  parts[0].efforts = index.efforts;
  const std::unique_ptr<KnnIndex> worn = MakeIvfIndex(std::move(parts), std::nullopt, *exact);
  for (const int64_t k : {1, 20, 200, 1000}) {
    EXPECT_GE(MeanRecall(*exact, *worn, queries, Options(k)), 0.85) << "k = " << k;
  }
}

TEST(IvfIndex, MoreNeighborsThanRowsGiveAllRows) {
  constexpr int64_t kDim = 4;
  Indexed index(ClusteredKeys(70, kDim, 2, 8), kDim, {3, 9});
  ASSERT_TRUE(index.BuildUntried().ok());
  for (const int64_t k : {68, 100, 5000}) {
    const Neighbors found =
        Find(*index.approximate, MatrixView(index.values.data(), 2, kDim), Options(k));
    const Neighbors truth =
        Find(*index.exact, MatrixView(index.values.data(), 2, kDim), Options(k));
    EXPECT_EQ(found.rows, truth.rows);
    EXPECT_EQ(found.distances, truth.distances);
  }
}

TEST_P(IvfIndexOf, AnswersEqualKeysZeroVectorsAndASingleKeyExactly) {
  constexpr int64_t kDim = 5;
  for (const int64_t rows : {1, 2, 33, 2000}) {
    for (const float value : {0.0f, 2.5f}) {
      Indexed index(std::vector<float>(static_cast<size_t>(rows * kDim), value), kDim);
      const Status built = index.BuildUntried(/*reach=*/3, {.code_bits = GetParam()});
      ASSERT_TRUE(built.ok()) << built.message();
      const Neighbors found =
          Find(*index.approximate, MatrixView(index.values.data(), 1, kDim), Options(10));
      const Neighbors truth =
          Find(*index.exact, MatrixView(index.values.data(), 1, kDim), Options(10));
      EXPECT_EQ(found.rows, truth.rows);
      EXPECT_EQ(found.distances, truth.distances);
    }
  }
}

TEST(IvfIndex, AQueryFarFromAllKeysIsAnsweredExactly) {
  constexpr int64_t kDim = 6;
  Indexed index(ClusteredKeys(900, kDim, 3, 9), kDim);
  ASSERT_TRUE(index.BuildUntried().ok());
  std::vector<float> queries(2 * kDim, 1e30f);
  std::fill(queries.begin() + kDim, queries.end(), 0.5f);
  const MatrixView view(queries.data(), 2, kDim);
  const Neighbors found = Find(*index.approximate, view, Options(5));
  const Neighbors truth = Find(*index.exact, view, Options(5));
  EXPECT_EQ(found.rows_of(0)[0], truth.rows_of(0)[0]);
  EXPECT_EQ(found.distances_of(0)[4], truth.distances_of(0)[4]);
}

TEST(IvfIndex, WrongQuestionsAreRefused) {
  constexpr int64_t kDim = 6;
  Indexed index(ClusteredKeys(300, kDim, 3, 9), kDim);
  ASSERT_TRUE(index.BuildUntried().ok());
  std::vector<float> query(kDim + 1, 0.0f);
  Neighbors out;
  const auto code = [&](int64_t dim, const SearchOptions& options) {
    return index.approximate->Search(MatrixView(query.data(), 1, dim), options, &out).code();
  };
  EXPECT_EQ(code(kDim, Options(0)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(kDim + 1, Options(1)), ErrorCode::kBadData);
  query[2] = NAN;
  EXPECT_EQ(code(kDim, Options(1)), ErrorCode::kBadData);
  query[2] = 0;
  EXPECT_EQ(code(kDim, Options(1)), ErrorCode::kOk);
}

TEST(IvfIndex, ACancelledSearchSaysSo) {
  struct Stop : Progress {
    bool Cancelled() const override { return true; }
  } stop;
  Indexed index(ClusteredKeys(300, 4, 3, 9), 4);
  ASSERT_TRUE(index.BuildUntried().ok());
  SearchOptions options = Options(3);
  options.progress = &stop;
  Neighbors out;
  EXPECT_EQ(index.approximate->Search(MatrixView(index.values.data(), 9, 4), options, &out).code(),
            ErrorCode::kCancelled);
}

}  // namespace
}  // namespace resmem
