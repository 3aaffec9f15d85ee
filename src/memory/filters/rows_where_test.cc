#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fixtures/every_memory.h"
#include "fixtures/small_memory.h"
#include "resmem/predictor.h"
#include "resmem/row_filter.h"

namespace resmem {
namespace {

using namespace fixtures;

constexpr int64_t kRows = 200, kDim = 6, kClasses = 10;

RowFilter Filter(const std::string& text) {
  Result<RowFilter> filter = RowFilter::Parse(text);
  EXPECT_TRUE(filter.ok()) << filter.status().message();
  return std::move(filter).value();
}

// Every third row is of "north", every one has its number.
std::vector<std::string> TagsOf(int64_t rows) {
  std::vector<std::string> tags;
  for (int64_t row = 0; row < rows; ++row) {
    tags.push_back((row % 3 == 0 ? "site=north;n=" : "site=south;n=") + std::to_string(row));
  }
  return tags;
}

void WriteTagged(const std::string& path, const MemoryDescription& description, Rows rows,
                 const std::vector<std::string>& tags) {
  MemoryWriter::Options options;
  options.tags = true;
  Result<MemoryWriter> writer = MemoryWriter::Create(path, description, rows.count(), options);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  rows.tags = tags;
  const Status added = writer->Add(rows);
  ASSERT_TRUE(added.ok()) << added.message();
  ASSERT_TRUE(writer->Finish().ok());
}

struct Found {
  std::vector<uint64_t> ids;
  std::vector<float> distances;
};

Found Search(const ResidualMemory& memory, const MatrixView& queries, int64_t k) {
  Neighbors neighbors;
  SearchOptions options;
  options.k = k;
  EXPECT_TRUE(memory.index().Search(queries, options, &neighbors).ok());
  Found found;
  for (size_t i = 0; i < neighbors.rows.size(); ++i) {
    if (neighbors.rows[i] < 0) continue;
    found.ids.push_back(memory.id(neighbors.rows[i]));
    found.distances.push_back(neighbors.distances[i]);
  }
  return found;
}

std::vector<float> Scores(const ResidualMemory& memory, const MatrixView& keys,
                          const MatrixView& logits) {
  const Predictor predictor(memory);
  std::vector<float> scores(static_cast<size_t>(logits.rows * logits.columns));
  EXPECT_TRUE(predictor.Predict(keys, logits, predictor.DefaultOptions(), scores).ok());
  return scores;
}

TEST(RowsWhere, FindsTheNeighborsOfAMemoryOfTheseRowsAlone) {
  const TemporaryFolder folder;
  const RowData data = MakeRows(kRows, kDim, kClasses);
  const RowData asked = MakeRows(20, kDim, kClasses, 77);
  const std::vector<std::string> tags = TagsOf(kRows);
  std::vector<int64_t> others;
  for (int64_t row = 0; row < kRows; ++row) {
    if (row % 3 != 0) others.push_back(row);
  }
  const RowData matching = data.Without(others);
  for (const MemoryDescription& description : EveryDescription(kDim, kClasses)) {
    SCOPED_TRACE(NameOf(description));
    // Keys of whitened and int4 memories depend on all rows that a memory was made of.
    if (description.key_transform == KeyTransform::kWhiten) continue;
    if (description.key_type == KeyType::kInt4 || description.form == ResidualForm::kPacked)
      continue;
    const std::string path = folder / NameOf(description);
    WriteTagged(path, description, data.view(description), tags);
    Write(path + " alone", description, matching.view(description));
    const ResidualMemory whole = Open(path), alone = Open(path + " alone");
    EXPECT_TRUE(whole.has_tags());
    EXPECT_EQ(whole.tags(4), "site=south;n=4");
    auto some = RowsWhere(whole, Filter("site=north"));
    ASSERT_TRUE(some.ok()) << some.status().message();
    EXPECT_EQ(some->rows(), alone.rows());
    const MatrixView queries = asked.view(description).keys;
    const Found found = Search(*some, queries, 30), truth = Search(alone, queries, 30);
    EXPECT_EQ(found.ids, truth.ids);
    EXPECT_EQ(found.distances, truth.distances);
    const MatrixView logits = asked.view(description).logits;
    EXPECT_EQ(Scores(*some, queries, logits), Scores(alone, queries, logits));
  }
}

TEST(RowsWhere, FewerRowsThanKAreAllNeighborsAndNoneIsTheBase) {
  const TemporaryFolder folder;
  const Problem problem = MakeProblem(kRows, kDim, kClasses, 1);
  MemoryDescription description = DescribeShape(kDim, kClasses, 50);
  WriteTagged(folder / "m", description, problem.view(), TagsOf(kRows));
  const ResidualMemory memory = Open(folder / "m");
  const Problem asked = MakeProblem(5, kDim, kClasses, 2);
  const auto few = RowsWhere(memory, Filter("n<7"));
  ASSERT_TRUE(few.ok());
  EXPECT_EQ(few->rows(), 7);
  Found found = Search(*few, asked.view().Slice(0, 1).keys, 50);
  std::ranges::sort(found.ids);
  EXPECT_EQ(found.ids, (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(IdsWhere(memory, Filter("n<7")), found.ids);
  const auto none = RowsWhere(memory, Filter("n>1e6"));
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->rows(), 0);
  const Predictor predictor(*none);
  PredictOptions options = predictor.DefaultOptions();
  options.parameters.k = 0;
  std::vector<float> base(5 * kClasses);
  ASSERT_TRUE(predictor.Predict(asked.view().keys, asked.view().logits, options, base).ok());
  EXPECT_EQ(Scores(*none, asked.view().keys, asked.view().logits), base);
}

TEST(RowsWhere, TagsSurviveEveryChange) {
  const TemporaryFolder folder;
  const RowData data = MakeRows(90, kDim, kClasses);
  for (const MemoryDescription& description : EveryDescription(kDim, kClasses)) {
    SCOPED_TRACE(NameOf(description));
    const std::string path = folder / NameOf(description);
    // The first rows come without tags: a memory from before.
    Write(path, description, data.Part(0, 30).view(description));
    EXPECT_FALSE(Open(path).has_tags());
    AppendOptions options;
    options.tags = true;
    Result<MemoryWriter> writer = MemoryWriter::Append(path, 60, options);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    const std::vector<std::string> tags = TagsOf(30);
    const RowData tagged = data.Part(30, 30), bare = data.Part(60, 30);
    Rows rows = tagged.view(description);
    rows.tags = tags;
    ASSERT_TRUE(writer->Add(rows).ok());
    ASSERT_TRUE(writer->Add(bare.view(description)).ok());
    ASSERT_TRUE(writer->Finish().ok());
    ASSERT_TRUE(DeleteRows(path, std::vector<uint64_t>{data.ids[0], data.ids[31]}).ok());
    ASSERT_TRUE(CompactMemory(path).ok());
    const ResidualMemory memory = Open(path);
    EXPECT_TRUE(memory.Verify().ok());
    EXPECT_EQ(memory.rows(), 88);
    for (int64_t row = 0; row < 88; ++row) {
      const auto at = std::ranges::find(data.ids, memory.id(row)) - data.ids.begin();
      const std::string expected =
          at >= 30 && at < 60 ? tags[static_cast<size_t>(at - 30)] : std::string();
      EXPECT_EQ(memory.tags(row), expected) << row;
    }
  }
}

TEST(RowsWhere, WrongTagsAreRefusedAndNothingIsWritten) {
  const TemporaryFolder folder;
  const Problem problem = MakeProblem(3, kDim, kClasses, 1);
  const MemoryDescription description = DescribeShape(kDim, kClasses, 2);
  const auto add = [&](bool announced, const std::vector<std::string>& tags) {
    MemoryWriter::Options options;
    options.tags = announced;
    Result<MemoryWriter> writer = MemoryWriter::Create(folder / "m", description, 3, options);
    EXPECT_TRUE(writer.ok());
    Rows rows = problem.view();
    rows.tags = tags;
    return writer->Add(rows);
  };
  EXPECT_NE(add(true, {"a", "b;", "c"}).message().find("tags, row 1: "), std::string::npos);
  EXPECT_NE(add(true, {"a", "b"}).message().find("2 tags were given for 3 rows"),
            std::string::npos);
  EXPECT_NE(add(false, {"a", "b", "c"}).message().find("without tags were announced"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "m/MANIFEST"));
}

}  // namespace
}  // namespace resmem
