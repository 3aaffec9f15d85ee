#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "kernels/every_simd_level.h"
#include "resmem/knn_index.h"
#include "search/exact/reference_search.h"
#include "search/search_test_data.h"

namespace resmem {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  int64_t dim = 1;
  std::vector<float> keys;
  std::vector<float> queries;
  int64_t k = 1;
  KeyType type = KeyType::kFloat32;
  std::vector<int64_t> hidden;
  std::vector<int64_t> exclude;  // empty or one a query

  int64_t rows() const { return static_cast<int64_t>(keys.size()) / dim; }
};

struct Way {
  int threads;
  int64_t batch;
  int64_t queries;  // so many of the case's are asked
};
// Codes are used from the eighth query on.
constexpr Way kWays[] = {{1, 1, 12}, {2, 1, 10}, {3, 7, 21}, {1, 64, 64}, {2, 64, 64}, {3, 64, 64}};

// Every instruction set, 1 to 3 threads, alone and in batches, keys in one block and in several:
// the same rows and the same bits of distances as the plain scan.
void ExpectReferenceAnswer(const Case& c) {
  const StoredKeys stored(c.keys, c.dim, c.type);
  auto store = KeyStore::Make(c.dim, {stored.block()}, c.hidden);
  ASSERT_TRUE(store.ok()) << store.status().message();
  const MatrixView queries(c.queries.data(), static_cast<int64_t>(c.queries.size()) / c.dim, c.dim);
  SearchOptions options;
  options.k = c.k;
  options.exclude = c.exclude;
  const Neighbors expected = ReferenceSearch(*store, queries, options);

  const int64_t third = c.rows() / 3;
  const std::vector<KeyBlock> whole = {stored.block()};
  const std::vector<KeyBlock> parts = {stored.part(0, third, c.dim), stored.part(third, 0, c.dim),
                                       stored.part(third, third, c.dim),
                                       stored.part(2 * third, c.rows() - 2 * third, c.dim)};
  AtEverySimdLevel([&] {
    for (const Way& way : kWays) {
      SCOPED_TRACE(testing::Message() << "threads " << way.threads << ", batch " << way.batch
                                      << ", dim " << c.dim << ", k " << c.k);
      auto index = MakeExactIndex(c.dim, way.threads == 2 ? parts : whole, c.hidden);
      ASSERT_TRUE(index.ok()) << index.status().message();
      options.threads = way.threads;
      const int64_t asked = std::min(way.queries, queries.rows);
      for (int64_t begin = 0; begin < asked; begin += way.batch) {
        const int64_t count = std::min(way.batch, asked - begin);
        if (!c.exclude.empty()) {
          options.exclude =
              std::span(c.exclude).subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
        }
        Neighbors found;
        const Status status = (*index)->Search(queries.Slice(begin, count), options, &found);
        ASSERT_TRUE(status.ok()) << status.message();
        for (int64_t i = 0; i < count * c.k; ++i) {
          const int64_t cell = begin * c.k + i;
          ASSERT_EQ(found.rows[i], expected.rows[cell])
              << "query " << begin + i / c.k << ", place " << i % c.k;
          ASSERT_EQ(found.distances[i], expected.distances[cell]);
        }
      }
    }
  });
}

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
  EXPECT_EQ(found.distances, (std::vector<float>{0, 1, 5, kInfinity}));
}

TEST(ExactIndex, AnswersRandomQuestionsAsTheReferenceDoes) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    Case c;
    c.dim = 1 + static_cast<int64_t>(random.Below(130));
    const int64_t rows = 1 + static_cast<int64_t>(random.Below(300));
    c.k = 1 + static_cast<int64_t>(random.Below(seed % 2 == 0 ? 12 : static_cast<uint64_t>(rows)));
    c.type = static_cast<KeyType>(seed % 3);
    c.keys = NormalFloats(rows * c.dim, 0.5, 1.0, &random);
    c.queries = NormalFloats(64 * c.dim, 0.5, 1.0, &random);
    ExpectReferenceAnswer(c);
  }
}

TEST(ExactIndex, AnswersManyQuestionsAskedAloneWithoutOneMismatch) {
  int64_t mismatches = 0, asked = 0;
  for (uint64_t seed = 0; seed < 9; ++seed) {
    Random random(seed);
    constexpr int64_t kDim = 32, kRows = 400, kQueries = 400;
    // Ordinary, tight far from the origin, and on a coarse grid, where many distances are equal.
    std::vector<float> keys = NormalFloats(kRows * kDim, seed % 3 == 1 ? 100 : 0, 1, &random);
    std::vector<float> queries = NormalFloats(kQueries * kDim, seed % 3 == 1 ? 100 : 0, 1, &random);
    if (seed % 3 == 2) {
      for (float& value : keys) value = std::round(value);
      for (float& value : queries) value = std::round(value);
    }
    const StoredKeys stored(keys, kDim, static_cast<KeyType>(seed / 3));
    const MatrixView view(queries.data(), kQueries, kDim);
    SearchOptions options;
    options.k = 1 + static_cast<int64_t>(random.Below(30));
    const Neighbors expected =
        ReferenceSearch(*KeyStore::Make(kDim, {stored.block()}, {}), view, options);
    AtEverySimdLevel([&] {
      auto index = MakeExactIndex(kDim, {stored.block()});
      ASSERT_TRUE(index.ok()) << index.status().message();
      for (int64_t q = 0; q < kQueries; ++q, ++asked) {
        options.threads = 1 + static_cast<int>(q % 2);
        Neighbors found;
        ASSERT_TRUE((*index)->Search(view.Slice(q, 1), options, &found).ok());
        const bool same = std::ranges::equal(found.rows, expected.rows_of(q)) &&
                          std::ranges::equal(found.distances, expected.distances_of(q));
        mismatches += same ? 0 : 1;
      }
    });
  }
  EXPECT_GE(asked, 3600);
  EXPECT_EQ(mismatches, 0);
}

TEST(ExactIndex, RowsThatComeNearerAndNearerAreFoundAsInAnyOrder) {
  for (const bool nearer : {false, true}) {
    Random random(47);
    Case c;
    c.dim = 32;
    c.k = nearer ? 3 : 20;
    constexpr int64_t kRows = 4000;  // enough for a first bound from a sample
    c.keys = NormalFloats(kRows * c.dim, 0, 1, &random);
    for (int64_t i = 0; i < kRows * c.dim; ++i) {
      const int64_t row = i / c.dim;
      c.keys[i] *= static_cast<float>(nearer ? kRows - row : row) / 1000;
    }
    c.queries = NormalFloats(64 * c.dim, 0, 0.01, &random);
    for (int64_t row = 0; row < kRows; row += 3) c.hidden.push_back(row);
    for (int64_t q = 0; q < 64; ++q) c.exclude.push_back(nearer ? kRows - 1 - q : q);
    ExpectReferenceAnswer(c);
  }
}

TEST(ExactIndex, ThreadsThatAskAtOnceAreAnsweredRight) {
  Random random(43);
  constexpr int64_t kDim = 40, kRows = 500, kQueries = 40;
  const std::vector<float> keys = NormalFloats(kRows * kDim, 0, 1, &random);
  const std::vector<float> queries = NormalFloats(kQueries * kDim, 0, 1, &random);
  const KeyBlock block = {KeyType::kFloat32, keys.data(), nullptr, kRows};
  const MatrixView view(queries.data(), kQueries, kDim);
  SearchOptions options;
  options.k = 5;
  const Neighbors expected = ReferenceSearch(*KeyStore::Make(kDim, {block}, {}), view, options);
  auto index = MakeExactIndex(kDim, {block});
  ASSERT_TRUE(index.ok()) << index.status().message();
  std::vector<Neighbors> found(kQueries);
  std::vector<std::thread> threads;
  for (int64_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (int64_t q = first; q < kQueries; q += 4) {
        EXPECT_TRUE((*index)->Search(view.Slice(q, 1), options, &found[q]).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int64_t q = 0; q < kQueries; ++q) {
    EXPECT_TRUE(std::ranges::equal(found[q].rows, expected.rows_of(q))) << q;
    EXPECT_TRUE(std::ranges::equal(found[q].distances, expected.distances_of(q))) << q;
  }
}

TEST(ExactIndex, TiesAreOrderedByRow) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Case c;
    c.dim = 1 + static_cast<int64_t>(random.Below(6));
    c.k = 1 + static_cast<int64_t>(random.Below(20));
    // Few whole numbers: most distances are shared by many rows.
    for (int64_t i = 0; i < 200 * c.dim; ++i) c.keys.push_back(static_cast<float>(random.Below(3)));
    for (int64_t i = 0; i < 64 * c.dim; ++i) {
      c.queries.push_back(static_cast<float>(random.Below(3)));
    }
    ExpectReferenceAnswer(c);
  }
}

TEST(ExactIndex, TellsNearDuplicatesFarFromTheOriginApart) {
  for (const double offset : {1e3, 1e6, 1e12}) {
    for (const double spread : {1e-7, 1e-4}) {
      Random random(static_cast<uint64_t>(offset));
      Case c;
      c.dim = 36;
      c.k = 5;
      c.keys = NormalFloats(300 * c.dim, offset, offset * spread, &random);
      c.queries = NormalFloats(64 * c.dim, offset, offset * spread, &random);
      ExpectReferenceAnswer(c);
    }
  }
}

TEST(ExactIndex, TellsCopiesWithOneChangedBitApart) {
  Random random(17);
  Case c;
  c.dim = 40;
  c.k = 9;
  const std::vector<float> one = NormalFloats(c.dim, 0, 1, &random);
  for (int64_t row = 0; row < 300; ++row) {
    std::vector<float> copy = one;
    float& changed = copy[random.Below(static_cast<uint64_t>(c.dim))];
    changed = std::nextafter(changed, row % 2 == 0 ? 9.0f : -9.0f);
    c.keys.insert(c.keys.end(), copy.begin(), copy.end());
  }
  for (int64_t q = 0; q < 64; ++q) {
    c.queries.insert(c.queries.end(), one.begin(), one.end());
    c.queries.back() += static_cast<float>(q);
  }
  ExpectReferenceAnswer(c);
}

TEST(ExactIndex, HugeAndTinyNumbersAreMeasuredAsAnyOther) {
  for (const double scale : {1e-42, 1e-30, 1e-20, 1e14, 1e18, 1e19, 3e37}) {
    Random random(23);
    Case c;
    c.dim = 41;
    c.k = 7;
    c.keys = NormalFloats(200 * c.dim, 0, scale, &random);
    c.queries = NormalFloats(64 * c.dim, 0, scale, &random);
    ExpectReferenceAnswer(c);
  }
}

TEST(ExactIndex, OneGiantKeyOrQueryDoesNotDisturbTheOthers) {
  for (const float giant : {1e10f, 1e16f, 3e38f}) {
    Random random(29);
    Case c;
    c.dim = 35;
    c.k = 6;
    c.keys = NormalFloats(250 * c.dim, 0, 1, &random);
    c.queries = NormalFloats(64 * c.dim, 0, 1, &random);
    std::fill_n(c.keys.begin() + 100 * c.dim, c.dim, giant);
    std::fill_n(c.queries.begin() + 3 * c.dim, c.dim, -giant);
    ExpectReferenceAnswer(c);
  }
}

TEST(ExactIndex, EqualKeysZeroKeysAndASingleKeyAreFine) {
  Random random(31);
  for (const int64_t rows : {1, 2, 5, 300, 5000}) {
    for (const float value : {0.0f, 0.3f}) {
      Case c;
      c.dim = rows == 300 ? 33 : 5;
      c.k = 3;
      c.keys.assign(static_cast<size_t>(rows * c.dim), value);
      c.queries = NormalFloats(36 * c.dim, 0, 1, &random);
      std::fill_n(c.queries.begin(), c.dim, value);
      ExpectReferenceAnswer(c);
    }
  }
}

TEST(ExactIndex, DimensionsAroundAPieceOfTheDotProductAreFine) {
  for (const int64_t dim : {255, 256, 257, 512, 700}) {
    Random random(37);
    Case c;
    c.dim = dim;
    c.k = 4;
    c.keys = NormalFloats(90 * dim, 1, 1, &random);
    c.queries = NormalFloats(50 * dim, 1, 1, &random);
    ExpectReferenceAnswer(c);
  }
}

TEST(ExactIndex, HiddenAndExcludedRowsAreNeverFound) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    Case c;
    c.dim = seed % 2 == 0 ? 8 : 60;
    c.k = 1 + static_cast<int64_t>(random.Below(seed < 6 ? 10 : 200));
    c.type = static_cast<KeyType>(seed % 3);
    c.keys = NormalFloats(150 * c.dim, 0, 1, &random);
    c.queries.assign(c.keys.begin(), c.keys.begin() + 64 * c.dim);  // row q is query q itself
    for (int64_t row = 0; row < 150; ++row) {
      if (random.Below(3) == 0) c.hidden.push_back(row);
    }
    for (int64_t q = 0; q < 64; ++q) c.exclude.push_back(q % 4 == 3 ? -1 : q);
    ExpectReferenceAnswer(c);
  }
}

TEST(ExactIndex, AllRowsHiddenOrNoRowsAtAllGivesAnEmptyAnswer) {
  const std::vector<float> keys = {1, 2, 3};
  const float query = 0;
  for (const int64_t rows : {0, 3}) {
    auto index = MakeExactIndex(1, {{KeyType::kFloat32, keys.data(), nullptr, rows}},
                                rows == 0 ? std::vector<int64_t>{} : std::vector<int64_t>{0, 1, 2});
    ASSERT_TRUE(index.ok()) << index.status().message();
    Neighbors found;
    SearchOptions options;
    options.k = 2;
    ASSERT_TRUE((*index)->Search(MatrixView(&query, 1, 1), options, &found).ok());
    EXPECT_EQ(found.rows, (std::vector<int64_t>{-1, -1}));
    EXPECT_EQ(found.distances, (std::vector<float>{kInfinity, kInfinity}));
  }
}

TEST(ExactIndex, DistanceBeyondFloatIsTheLargestFloat) {
  const float key = std::numeric_limits<float>::max();
  const float query = -key;
  auto index = MakeExactIndex(1, {{KeyType::kFloat32, &key, nullptr, 1}});
  ASSERT_TRUE(index.ok());
  Neighbors found;
  ASSERT_TRUE((*index)->Search(MatrixView(&query, 1, 1), {}, &found).ok());
  EXPECT_EQ(found.rows[0], 0);
  EXPECT_EQ(found.distances[0], std::numeric_limits<float>::max());
}

TEST(ExactIndex, UnsoundQuestionsAreRefusedWithThePlace) {
  const std::vector<float> keys = {0, 0, 3, 4};
  auto index = MakeExactIndex(2, {{KeyType::kFloat32, keys.data(), nullptr, 2}});
  ASSERT_TRUE(index.ok());
  const auto status_of = [&](std::vector<float> query, int64_t columns, int64_t k,
                             std::vector<int64_t> exclude) {
    SearchOptions options;
    options.k = k;
    options.exclude = exclude;
    Neighbors found;
    const int64_t rows = static_cast<int64_t>(query.size()) / columns;
    return (*index)->Search(MatrixView(query.data(), rows, columns), options, &found);
  };
  EXPECT_EQ(status_of({1, 2}, 2, 0, {}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(status_of({1, 2}, 2, 1, {0, 1}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(status_of({1, 2}, 2, 1, {2}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(status_of({1, 2}, 2, 1, {-2}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(status_of({1, 2, 3}, 3, 1, {}).code(), ErrorCode::kBadData);
  const Status nan = status_of({1, 2, 3, NAN}, 2, 1, {});
  EXPECT_EQ(nan.code(), ErrorCode::kBadData);
  EXPECT_NE(nan.message().find("query 1, column 1"), std::string::npos) << nan.message();
  EXPECT_EQ(status_of({kInfinity, 2}, 2, 1, {}).code(), ErrorCode::kBadData);
  EXPECT_EQ(status_of({1, 2}, 2, INT64_MAX / 2, {}).code(), ErrorCode::kResourceExhausted);
}

TEST(ExactIndex, KeysThatAreNotFiniteAreRefusedWithThePlace) {
  for (const float bad : {NAN, kInfinity, -kInfinity}) {
    std::vector<float> keys(600, 1.0f);
    keys[431] = bad;
    auto index = MakeExactIndex(3, {{KeyType::kFloat32, keys.data(), nullptr, 200}});
    ASSERT_TRUE(index.ok()) << index.status().message();
    const float query[] = {0, 0, 0};
    for (int time = 0; time < 2; ++time) {
      Neighbors found;
      const Status status = (*index)->Search(MatrixView(query, 1, 3), {}, &found);
      EXPECT_EQ(status.code(), ErrorCode::kBadData);
      EXPECT_NE(status.message().find("row 143, column 2"), std::string::npos) << status.message();
    }
  }
}

class StopAtOnce : public Progress {
 public:
  bool Cancelled() const override { return true; }
};
class Listen : public Progress {
 public:
  void Report(std::string_view, int64_t done, int64_t total) override {
    EXPECT_GT(done, last);
    EXPECT_EQ(total, 100);
    last = done;
  }
  int64_t last = 0;
};

TEST(ExactIndex, ProgressIsToldAndCanStopTheSearch) {
  Random random(41);
  const std::vector<float> keys = NormalFloats(500 * 4, 0, 1, &random);
  const std::vector<float> queries = NormalFloats(100 * 4, 0, 1, &random);
  auto index = MakeExactIndex(4, {{KeyType::kFloat32, keys.data(), nullptr, 500}});
  ASSERT_TRUE(index.ok());
  for (const int threads : {1, 64}) {  // a batch; a few at a time
    SearchOptions options;
    options.threads = threads;
    StopAtOnce stop;
    options.progress = &stop;
    Neighbors found;
    EXPECT_EQ((*index)->Search(MatrixView(queries.data(), 100, 4), options, &found).code(),
              ErrorCode::kCancelled);
    Listen listen;
    options.progress = &listen;
    EXPECT_TRUE((*index)->Search(MatrixView(queries.data(), 100, 4), options, &found).ok());
    EXPECT_EQ(listen.last, 100);
  }
}

}  // namespace
}  // namespace resmem
