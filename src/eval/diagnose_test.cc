#include "resmem/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fixtures/every_memory.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;
using fixtures::Write;

constexpr int64_t kDim = 6, kOutputs = 2, kRows = 6000, kGiven = 400;

MemoryDescription Described() {
  MemoryDescription description;
  description.dim = kDim;
  description.outputs = kOutputs;
  description.parameters.k = 20;
  return description;
}

// Spread far from the clusters, so that neighbors lie in several lists.
void Spread(Random* random, float* key) {
  for (int64_t i = 0; i < kDim; ++i) key[i] = static_cast<float>(200 + random->Normal());
}

// Nine of ten rows in small tight clusters, where every neighbor is in the nearest list.
RowData Clusters() {
  constexpr int64_t kClusters = 200;
  RowData data = MakeRows(kRows, kDim, kOutputs, 1);
  Random random(4);
  std::vector<float> centers(kClusters * kDim);
  for (float& value : centers) value = static_cast<float>(30 * random.Normal());
  for (int64_t row = 0; row < kRows; ++row) {
    float* const key = data.keys.data() + row * kDim;
    const float* const center = centers.data() + row % kClusters * kDim;
    for (int64_t i = 0; i < kDim; ++i) {
      key[i] = center[i] + static_cast<float>(0.01 * random.Normal());
    }
    if (row % 10 == 0) Spread(&random, key);
  }
  return data;
}

// Like the few rows that are in no cluster.
RowData Hard(uint64_t seed) {
  RowData given = MakeRows(kGiven, kDim, kOutputs, seed);
  Random random(seed);
  for (int64_t q = 0; q < kGiven; ++q) Spread(&random, given.keys.data() + q * kDim);
  return given;
}

Diagnosis DiagnoseOn(const std::string& path, const RowData* given) {
  const ResidualMemory memory = Open(path);
  const auto exact = ResidualMemory::Open(path, {.exact = true});
  const Rows rows = given == nullptr ? Rows() : given->view(Described());
  const RowSource source = ReadRows(rows);
  const auto diagnosis = Diagnose(memory, *exact, given == nullptr ? nullptr : &source);
  EXPECT_TRUE(diagnosis.ok()) << diagnosis.status().message();
  return *diagnosis;
}

bool Advises(const Diagnosis& diagnosis, const std::string& words) {
  return std::any_of(
      diagnosis.advice.begin(), diagnosis.advice.end(),
      [&](const std::string& advice) { return advice.find(words) != std::string::npos; });
}

TEST(Diagnose, TellsTheRecallOnTheMemorysRowsAndOnThoseGivenApart) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Clusters(), given = Hard(2), held_out = Hard(3);
  Write(path, Described(), data.view(Described()));
  EXPECT_FALSE(DiagnoseOn(path, &given).index_on_given.has_value());  // search is exact

  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9}).ok());
  EXPECT_FALSE(DiagnoseOn(path, nullptr).index_on_given.has_value());
  const Diagnosis of_rows = DiagnoseOn(path, &given);
  ASSERT_TRUE(of_rows.index && of_rows.index_on_given);
  EXPECT_EQ(of_rows.index->queries, 500);
  EXPECT_EQ(of_rows.index_on_given->queries, kGiven);
  EXPECT_GE(of_rows.index->recall, 0.88);
  EXPECT_LT(of_rows.index_on_given->recall, 0.88);
  EXPECT_GT(of_rows.index_on_given->standard_error, 0.001);
  EXPECT_LT(of_rows.index_on_given->standard_error, 0.03);
  EXPECT_TRUE(Advises(of_rows, "(resmem index --recall 0.9 --data ...)"));

  const MatrixView queries(held_out.keys.data(), kGiven, kDim);
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9, .queries = queries}).ok());
  const Diagnosis of_queries = DiagnoseOn(path, &given);
  EXPECT_GE(of_queries.index_on_given->recall, 0.88);
  EXPECT_FALSE(Advises(of_queries, "resmem index --recall"));
}

TEST(SampleKeys, HoldsEveryRowOnceWhereThereAreFewAndTheSameOnesHoweverTheyAreCut) {
  const RowData data = Clusters();
  const Rows rows = data.view(Described());
  EXPECT_EQ(SampleKeys(ReadRows(rows), kRows, 5).value(), data.keys);
  const std::vector<float> some = SampleKeys(ReadRows(rows), 300, 5).value();
  EXPECT_EQ(some.size(), 300u * kDim);
  EXPECT_EQ(SampleKeys(ReadRows(rows, /*block_rows=*/77), 300, 5).value(), some);
  EXPECT_NE(SampleKeys(ReadRows(rows), 300, 6).value(), some);
  // Of all parts of the rows alike, first and last.
  int64_t of_first_half = 0;
  for (int64_t i = 0; i < 300; ++i) {
    const auto begin = some.begin() + i * kDim;
    for (int64_t row = 0; row < kRows / 2; ++row) {
      of_first_half += std::equal(begin, begin + kDim, data.keys.begin() + row * kDim) ? 1 : 0;
    }
  }
  EXPECT_NEAR(static_cast<double>(of_first_half), 150, 45);
}

}  // namespace
}  // namespace resmem
