#include "resmem/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "eval/advice.h"
#include "fixtures/every_memory.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;
using fixtures::Write;

constexpr int64_t kDim = 6, kOutputs = 2, kRows = 6000, kGiven = 400;

MemoryDescription Described() {
  return fixtures::DescribeShape(kDim, kOutputs, 20);
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

Diagnosis DiagnoseRows(const std::string& path, const Rows* rows,
                       const DiagnosisOptions& options = {}) {
  const ResidualMemory memory = Open(path);
  const auto exact = ResidualMemory::Open(path, {.exact = true});
  const RowSource source = ReadRows(rows == nullptr ? Rows() : *rows);
  const auto diagnosis = Diagnose(memory, *exact, rows == nullptr ? nullptr : &source, options);
  EXPECT_TRUE(diagnosis.ok()) << diagnosis.status().message();
  return *diagnosis;
}

Diagnosis DiagnoseOn(const std::string& path, const RowData* given) {
  const Rows rows = given == nullptr ? Rows() : given->view(Described());
  return DiagnoseRows(path, given == nullptr ? nullptr : &rows);
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
  EXPECT_LT(of_rows.index_on_given->least, of_rows.index_on_given->low);
  EXPECT_LT(of_rows.index_on_given->low, of_rows.index_on_given->recall);

  const MatrixView queries(held_out.keys.data(), kGiven, kDim);
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9, .queries = queries}).ok());
  const Diagnosis of_queries = DiagnoseOn(path, &given);
  EXPECT_GE(of_queries.index_on_given->recall, 0.88);
  EXPECT_FALSE(Advises(of_queries, "resmem index --recall"));
}

TEST(Advice, OnAnIndexIsOneForEachCause) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Clusters(), given = Hard(2);
  Write(path, Described(), data.view(Described()));
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9}).ok());
  Diagnosis diagnosis = DiagnoseOn(path, &given);
  const auto advise = [&] { diagnosis.advice = Advice(Open(path), diagnosis); };
  diagnosis.lost = 0.069;
  advise();
  EXPECT_TRUE(Advises(diagnosis, "(resmem index --recall 0.9 --data ...)"));
  EXPECT_FALSE(Advises(diagnosis, "ask for a higher recall"));
  diagnosis.index_on_given.reset();
  advise();
  EXPECT_TRUE(
      Advises(diagnosis, "The index costs 6.90 points of accuracy: ask for a higher recall"));

  diagnosis.index->index_seconds = 2 * diagnosis.index->exact_seconds;
  advise();
  EXPECT_TRUE(Advises(diagnosis, "small enough to do without an index"));
  ASSERT_TRUE(DeleteRows(path, std::span(data.ids).first(kRows / 3)).ok());
  advise();
  EXPECT_FALSE(Advises(diagnosis, "small enough"));
  EXPECT_TRUE(Advises(diagnosis, "until the memory is compacted (resmem compact)"));
  EXPECT_TRUE(Advises(diagnosis, "2,000 of 6,000 rows are deleted"));
}

TEST(Diagnose, AsksAndJudgesAsManyRowsAsTheSampleSays) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Clusters();
  Write(path, Described(), data.view(Described()));
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9}).ok());
  for (const int64_t sample : {1, 29, 30, 500, 7000}) {
    const Diagnosis diagnosis = DiagnoseRows(path, nullptr, {.sample = sample});
    EXPECT_EQ(diagnosis.index->queries, std::min(sample, kRows));
    EXPECT_EQ(diagnosis.evaluation->rows, std::min(sample, kRows));
    EXPECT_EQ(std::isnan(diagnosis.index->standard_error), sample < 30);
  }
}

TEST(Diagnose, OfRowsWithoutLabelsTellsTheRecallAndNoMore) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Clusters(), given = Hard(2);
  Write(path, Described(), data.view(Described()));
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9}).ok());
  Rows rows;
  rows.keys = given.view(Described()).keys;
  const Diagnosis diagnosis = DiagnoseRows(path, &rows, {.unlabeled = true});
  EXPECT_EQ(diagnosis.index_on_given->queries, kGiven);
  EXPECT_EQ(diagnosis.index_on_given->recall, DiagnoseOn(path, &given).index_on_given->recall);
  EXPECT_FALSE(diagnosis.evaluation || diagnosis.judged || diagnosis.worse);
  EXPECT_NE(diagnosis.verdict.find("give logits and labels"), std::string::npos);
}

TEST(Diagnose, SaysThatListsAreNotUsedWhereTheyDoNotPay) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  MemoryDescription description = Described();
  description.dim = 64;  // independent values: no list is nearer than another
  const RowData data = MakeRows(3000, 64, kOutputs, 1);
  Write(path, description, data.view(description));
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.95}).ok());
  const Diagnosis diagnosis = DiagnoseRows(path, nullptr);
  EXPECT_EQ(diagnosis.index->least, 1);
  EXPECT_TRUE(Advises(diagnosis, "The index is not used"));
  EXPECT_FALSE(Advises(diagnosis, "small enough"));
}

TEST(AskedRecall, IsKnownOfAnEmptyMemoryThatIsToHaveAnIndex) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = MakeRows(200, kDim, kOutputs, 1);
  Write(path, Described(), data.view(Described()));
  EXPECT_FALSE(AskedRecall(Open(path)).has_value());
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9}).ok());
  EXPECT_EQ(AskedRecall(Open(path)), 0.9);
  ASSERT_TRUE(DeleteRows(path, data.ids).ok());
  ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_FALSE(Open(path).index_info().has_value());
  EXPECT_EQ(AskedRecall(Open(path)), 0.9);
}

// A base that is always right, and a memory whose residuals push to the next class.
class DiagnoseHarm : public testing::Test {
 protected:
  DiagnoseHarm() {
    for (int64_t row = 0; row < data_.rows; ++row) Right(&data_, row, 8);
    for (int64_t row = 0; row < given_.rows; ++row) Right(&given_, row, 8);
  }
  static void Right(fixtures::Problem* problem, int64_t row, float logit) {
    const auto label = problem->labels[static_cast<size_t>(row)];
    problem->logits[static_cast<size_t>(row * problem->classes + label)] = logit;
  }
  void WriteMemory() {
    fixtures::Problem wrong = data_;
    for (int32_t& label : wrong.labels) label = (label + 1) % 6;
    Write(path_, fixtures::Describe(wrong, {5, 1, 1}), wrong.view());
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "m";
  fixtures::Problem data_ = fixtures::MakeProblem(400, 5, 6, 1);
  fixtures::Problem given_ = fixtures::MakeProblem(150, 5, 6, 2);
};

TEST_F(DiagnoseHarm, IsAVerdictOnRowsThatTheBaseWasNotTrainedOn) {
  WriteMemory();
  Rows rows = given_.view();
  const Diagnosis harmed = DiagnoseRows(path_, &rows);
  EXPECT_TRUE(harmed.judged && harmed.worse);
  EXPECT_EQ(harmed.verdict.find("base + memory is worse than the base on these rows by "), 0u);
  EXPECT_EQ(harmed.verdict.find("do not prove"), std::string::npos);
  EXPECT_TRUE(Advises(harmed, "The memory harms"));

  std::vector<Role> roles(150, Role::kTest);
  roles[7] = Role::kTrain;
  rows.roles = roles;
  const Diagnosis trained = DiagnoseRows(path_, &rows);
  EXPECT_FALSE(trained.judged || trained.worse);
  EXPECT_EQ(trained.verdict, "none: 1 of 150 rows are marked train; give others");
  EXPECT_FALSE(Advises(trained, "harms"));
  EXPECT_TRUE(DiagnoseRows(path_, &rows, {.only = Role::kTest}).worse);
}

TEST_F(DiagnoseHarm, IsNoneOnTheMemorysOwnRowsUnlessTheyAreOutOfFold) {
  // Labels that no neighbor knows, and a base that is right but not sure.
  for (size_t row = 0; row < data_.labels.size(); ++row) {
    data_.labels[row] = static_cast<int32_t>(row * 7 % 6);
  }
  std::fill(data_.logits.begin(), data_.logits.end(), 0.0f);
  for (int64_t row = 0; row < data_.rows; ++row) Right(&data_, row, 1);
  for (const bool cross_fitted : {false, true}) {
    std::filesystem::remove_all(path_);
    MemoryDescription description = fixtures::Describe(data_, {1, 1, 1});
    description.cross_fitted = cross_fitted;
    Write(path_, description, data_.view());
    const Diagnosis diagnosis = DiagnoseRows(path_, nullptr);
    EXPECT_LT(diagnosis.evaluation->gain.interval.high, 0);
    EXPECT_EQ(diagnosis.judged, cross_fitted);
    EXPECT_EQ(diagnosis.worse, cross_fitted);
    EXPECT_EQ(Advises(diagnosis, "The memory harms"), cross_fitted);
  }
}

TEST_F(DiagnoseHarm, IsNoneOnRowsThatAreForTheMostPartInTheMemory) {
  for (int32_t& label : data_.labels) label = (label + 1) % 6;
  Write(path_, fixtures::Describe(data_, {5, 1, 1}), data_.view());
  const Rows own = data_.view();
  const Diagnosis diagnosis = DiagnoseRows(path_, &own);
  EXPECT_EQ(diagnosis.verdict,
            "none: 400 of 400 rows are in the memory, and the base was trained on its rows; give "
            "others");
  EXPECT_FALSE(diagnosis.judged || diagnosis.worse);
  EXPECT_TRUE(Advises(diagnosis, "resmem doctor without --data"));
}

TEST_F(DiagnoseHarm, ByOneRowIsWorseToo) {
  WriteMemory();
  Rows rows = given_.view();
  // One that is harmed, and with it those that are not.
  const ResidualMemory memory = Open(path_);
  EvaluationOptions options;
  options.keep_rows = 150;
  const auto all = Evaluate(Predictor(memory), ReadRows(rows), options);
  std::vector<Role> roles(150, Role::kUnmarked);
  bool harmed = false;
  for (const RowResult& row : all->row_results) {
    const bool harms = row.resmem != row.label;
    if (!harms || !harmed) roles[static_cast<size_t>(row.row)] = Role::kTest;
    harmed = harmed || harms;
  }
  ASSERT_TRUE(harmed);
  rows.roles = roles;
  const Diagnosis diagnosis = DiagnoseRows(path_, &rows, {.only = Role::kTest});
  EXPECT_EQ(diagnosis.evaluation->gain.harmed, 1);
  EXPECT_TRUE(diagnosis.worse);
  EXPECT_NE(diagnosis.verdict.find("rows do not prove it (95 % interval of the gain: -"),
            std::string::npos)
      << diagnosis.verdict;
}

TEST(Diagnose, SaysWhyThereIsNoVerdictOnSmallMemories) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = MakeRows(2, kDim, kOutputs, 1);
  Write(path, Described(), data.view(Described()));
  EXPECT_TRUE(DiagnoseRows(path, nullptr).evaluation.has_value());
  ASSERT_TRUE(DeleteRows(path, std::span(data.ids).first(1)).ok());
  EXPECT_EQ(
      DiagnoseRows(path, nullptr).verdict,
      "none: the memory has one row, which finds none but itself; give labeled rows (--data)");
  ASSERT_TRUE(DeleteRows(path, std::span(data.ids).last(1)).ok());
  EXPECT_EQ(DiagnoseRows(path, nullptr).verdict,
            "none: the memory is empty; give labeled rows (--data)");
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
