// The first passes must not only be safe but useful: on ordinary data they decide, with few rows
// left to measure.  (That the answers are right is shown in exact_index_test.cc.)
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/every_simd_level.h"
#include "search/first_pass/batch_scan.h"
#include "search/first_pass/error_bound.h"
#include "search/first_pass/interleaved/interleaved_scan.h"
#include "search/first_pass/rounded/rounded_scan.h"
#include "search/first_pass/row_scan.h"
#include "search/search_test_data.h"

namespace resmem {
namespace {

struct Data {
  StoredKeys stored;
  std::vector<float> queries;
  KeyStore keys;
  KeyGeometry geometry;
  std::vector<Question> questions;
};

Data MakeData(int64_t rows, int64_t dim, double mean, double spread, KeyType type) {
  Random random(1);
  StoredKeys stored(NormalFloats(rows * dim, mean, spread, &random), dim, type);
  std::vector<float> queries = NormalFloats(40 * dim, mean, spread, &random);
  KeyStore keys = *KeyStore::Make(dim, {stored.block()}, {});
  KeyGeometry geometry = *KeyGeometry::Compute(keys);
  Data data{std::move(stored), std::move(queries), std::move(keys), std::move(geometry), {}};
  for (int64_t q = 0; q < 40; ++q) {
    data.questions.push_back({data.queries.data() + q * dim, -1, q});
  }
  return data;
}

size_t MostCandidates(std::vector<CandidateList>* lists) {
  size_t most = 0;
  for (CandidateList& list : *lists) {
    if (!list.Decide(1e38f)) return SIZE_MAX;
    most = std::max(most, list.rows().size());
  }
  return most;
}

size_t MostOfBatch(const Data& data, int64_t k) {
  std::vector<CandidateList> lists;
  FindCandidatesOfBatch(
      data.keys, data.geometry, data.questions, k, [] { return false; }, &lists);
  return MostCandidates(&lists);
}

size_t MostRounded(const Data& data, int64_t k) {
  std::vector<CandidateList> lists;
  FindCandidatesByRounding(
      data.keys, data.geometry, nullptr, data.questions, k, [] { return false; }, &lists);
  return MostCandidates(&lists);
}

size_t MostOfFew(const Data& data, int64_t k) {
  std::vector<CandidateList> lists;
  FindCandidates(data.keys, data.questions, k, 2, &lists);
  return MostCandidates(&lists);
}

TEST(FirstPass, LeavesFewRowsToMeasureOnOrdinaryData) {
  for (const KeyType type : {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8}) {
    for (const double mean : {0.0, 2.0}) {
      const Data data = MakeData(3000, 64, mean, 1, type);
      AtEverySimdLevel([&] {
        EXPECT_LE(MostOfBatch(data, 20), 24u);
        EXPECT_LE(MostOfFew(data, 20), 24u);
      });
      const ScopedSimdLevel level(SimdNamesAvailable().front());
      EXPECT_LE(MostRounded(data, 20), 40u);
    }
  }
}

// Every way that guesses a first bound from a sample.
template <class Check>
void ForEachGuessingPass(const Data& data, int64_t k, const Check& check) {
  const ScopedSimdLevel level(SimdNamesAvailable().front());
  const auto stop = [] { return false; };
  std::vector<CandidateList> lists;
  FindCandidatesByRounding(data.keys, data.geometry, nullptr, data.questions, k, stop, &lists);
  check("rounded now", &lists);
  const RoundedKeys made(data.keys, data.geometry);
  FindCandidatesByRounding(data.keys, data.geometry, &made, data.questions, k, stop, &lists);
  check("rounded before", &lists);
  if (!InterleavedKeys::Apply(data.keys)) return;
  const InterleavedKeys codes(data.keys, data.geometry);
  for (const int threads : {1, 2}) {
    FindCandidatesInterleaved(data.keys, codes, data.questions, k, threads, stop, &lists);
    check("codes", &lists);
  }
}

void ExpectNearestAmongFew(const Data& data, int64_t k, size_t most) {
  std::vector<std::vector<MeasuredRow>> nearest;
  MeasureEveryRow(data.keys, data.questions, k, 1, &nearest);
  ForEachGuessingPass(data, k, [&](const char* way, std::vector<CandidateList>* lists) {
    for (size_t q = 0; q < lists->size(); ++q) {
      ASSERT_TRUE((*lists)[q].Decide(1e38f)) << way;
      const auto rows = (*lists)[q].rows();
      EXPECT_LE(rows.size(), most) << way;
      for (const MeasuredRow& row : nearest[q]) {
        EXPECT_NE(std::find(rows.begin(), rows.end(), row.row), rows.end()) << way;
      }
    }
  });
}

TEST(FirstPass, BoundsGuessedFromASampleLoseNoNeighbor) {
  ExpectNearestAmongFew(MakeData(6000, 32, 0, 1, KeyType::kFloat32), 20, 60);
}

TEST(FirstPass, IsRepeatedWhereTheSampleMisleads) {
  // The rows of the sample, every 16th, are so near that too few others are within any guess.
  Data data = MakeData(8192, 32, 0, 1, KeyType::kFloat32);
  for (int64_t row = 0; row < 8192; ++row) {
    for (int64_t i = 0; i < 32; ++i) {
      data.stored.floats[row * 32 + i] *= row % 16 == 0 ? 0.01f : 10.0f;
    }
  }
  for (float& value : data.queries) value *= 0.01f;
  data.geometry = *KeyGeometry::Compute(data.keys);
  ExpectNearestAmongFew(data, 300, 600);
}

TEST(FirstPass, CenteringLetsABatchDecideFarFromTheOrigin) {
  const Data data = MakeData(3000, 32, 1e5, 1, KeyType::kFloat32);
  AtEverySimdLevel([&] { EXPECT_LE(MostOfBatch(data, 20), 24u); });
}

TEST(FirstPass, DifferencesDecideWhereProductsCannot) {
  // Two far clusters: no center is near to both.
  Random random(2);
  std::vector<float> values = NormalFloats(20000 * 16, 0, 1, &random);
  for (size_t i = 0; i < values.size(); ++i) values[i] += i % 32 < 16 ? 1e4f : -1e4f;
  Data data = MakeData(1, 16, 0, 1, KeyType::kFloat32);
  data.keys = *KeyStore::Make(16, {{KeyType::kFloat32, values.data(), nullptr, 20000}}, {});
  data.geometry = *KeyGeometry::Compute(data.keys);
  for (float& value : data.queries) value += 1e4f;
  AtEverySimdLevel([&] {
    EXPECT_EQ(MostOfBatch(data, 20), SIZE_MAX);
    EXPECT_LE(MostOfFew(data, 20), 24u);
  });
}

TEST(FirstPass, QueryTooFarAwayForTheBoundIsGivenUpAndTheOthersAreNot) {
  Data data = MakeData(500, 8, 0, 1, KeyType::kFloat32);
  std::fill_n(data.queries.begin() + 8, 8, 1e16f);
  std::vector<CandidateList> lists;
  FindCandidatesOfBatch(
      data.keys, data.geometry, data.questions, 5, [] { return false; }, &lists);
  for (size_t q = 0; q < lists.size(); ++q) EXPECT_EQ(lists[q].Decide(1e38f), q != 1) << q;
  FindCandidatesByRounding(
      data.keys, data.geometry, nullptr, data.questions, 5, [] { return false; }, &lists);
  for (size_t q = 0; q < lists.size(); ++q) EXPECT_EQ(lists[q].Decide(1e38f), q != 1) << q;
}

TEST(FirstPass, ProductsDoNotApplyToGiantKeys) {
  Data data = MakeData(50, 8, 0, 1, KeyType::kFloat32);
  EXPECT_TRUE(BatchScanApplies(data.keys, data.geometry));
  data.stored.floats[80] = 1e16f;
  data.geometry = *KeyGeometry::Compute(data.keys);
  EXPECT_FALSE(BatchScanApplies(data.keys, data.geometry));
  EXPECT_FALSE(RoundedScanApplies(data.keys, data.geometry));
}

}  // namespace
}  // namespace resmem
