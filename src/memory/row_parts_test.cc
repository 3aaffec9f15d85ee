#include "resmem_program/row_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "fixtures/small_memory.h"
#include "resmem/predictor.h"
#include "resmem_program/merge_neighbors.h"

namespace resmem {
namespace {

using namespace fixtures;

class RowPartsTest : public testing::Test {
 protected:
  static constexpr int64_t kRows = 300, kNeighbors = 9;

  std::string WritePart(const MemoryDescription& description, int64_t begin, int64_t end) {
    std::string path = folder_ / ("part " + std::to_string(begin) + "-" + std::to_string(end));
    std::filesystem::remove_all(path);
    // Numbered by the memory: every part has the ids from 0 on.
    Write(path, description, problem_.view().Slice(begin, end - begin));
    return path;
  }

  // What a gateway does: each part is searched alone and sends the rows that it found.
  std::vector<float> AskInParts(const std::vector<ResidualMemory>& memories,
                                const PredictOptions& asked) {
    std::vector<RowPart> parts;
    std::vector<Neighbors> found(memories.size());
    std::vector<ShardNeighbors> shards;
    int64_t first = 0;
    for (size_t i = 0; i < memories.size(); ++i) {
      SearchOptions options;
      options.k = kNeighbors;
      options.squared = true;
      EXPECT_TRUE(memories[i].index().Search(queries_.view().keys, options, &found[i]).ok());
      std::vector<int64_t> rows(found[i].rows);
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
      if (!rows.empty() && rows[0] < 0) rows.erase(rows.begin());
      auto part = CopyRows(memories[i], rows);
      EXPECT_TRUE(part.ok()) << part.status().message();
      for (int64_t& row : found[i].rows) {
        if (row >= 0) row = std::lower_bound(rows.begin(), rows.end(), row) - rows.begin();
      }
      shards.push_back({&found[i], first});
      first += std::ssize(rows);
      parts.push_back(*part);
    }
    Neighbors merged;
    EXPECT_TRUE(MergeNeighbors(shards, kNeighbors, &merged).ok());
    const auto joined = OpenRowParts(memories[0], parts);
    EXPECT_TRUE(joined.ok()) << joined.status().message();
    const Predictor predictor(*joined);
    std::vector<float> scores(queries_.logits.size());
    const Rows rows = queries_.view();
    EXPECT_TRUE(predictor.Score(rows.keys, rows.logits, merged, asked, scores).ok());
    return scores;
  }

  TemporaryFolder folder_;
  Problem problem_ = MakeProblem(kRows, 6, 4, 1);
  Problem queries_ = MakeProblem(40, 6, 4, 2);
};

TEST_F(RowPartsTest, ScoredTogetherTheyAnswerBitForBitAsOneMemory) {
  for (const ResidualForm form :
       {ResidualForm::kLogits, ResidualForm::kDense, ResidualForm::kSparse}) {
    for (const KeyTransform transform : {KeyTransform::kNone, KeyTransform::kUnit}) {
      for (const KeyType type : {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8}) {
        MemoryDescription description = Describe(problem_, {kNeighbors, 0.8f, 1.2f});
        description.form = form;
        description.top = 3;
        description.key_transform = transform;
        description.key_type = type;
        std::vector<ResidualMemory> parts;
        for (const auto& [begin, end] :
             std::map<int64_t, int64_t>{{0, 5}, {5, 180}, {180, kRows}}) {
          parts.push_back(Open(WritePart(description, begin, end)));
        }
        const ResidualMemory whole = Open(WritePart(description, 0, kRows));
        const Predictor predictor(whole);
        for (const Method method : {Method::kResMem, Method::kKnn, Method::kKnnLm}) {
          const PredictOptions options = predictor.OptionsOf(method);
          std::vector<float> scores(queries_.logits.size());
          const Rows rows = queries_.view();
          ASSERT_TRUE(predictor.Predict(rows.keys, rows.logits, options, scores).ok());
          EXPECT_EQ(AskInParts(parts, options), scores);
        }
      }
    }
  }
}

TEST_F(RowPartsTest, KeepIdsLabelsAndSources) {
  MemoryDescription description = Describe(problem_, {3, 1, 1});
  description.has_sources = true;
  Rows rows = problem_.view();
  std::vector<std::string> sources;
  for (int64_t row = 0; row < kRows; ++row) sources.push_back("file " + std::to_string(row * row));
  rows.sources = sources;
  const std::string path = folder_ / "m";
  Write(path, description, rows);
  const ResidualMemory memory = Open(path);
  const std::vector<int64_t> taken = {7, 8, 9, 41, 40, 299};
  const auto part = CopyRows(memory, taken);
  ASSERT_TRUE(part.ok()) << part.status().message();
  const std::vector<RowPart> parts = {*part, *part};
  const auto copy = OpenRowParts(memory, parts);
  ASSERT_TRUE(copy.ok()) << copy.status().message();
  ASSERT_EQ(copy->capacity(), 12);
  for (int64_t i = 0; i < 12; ++i) {
    const int64_t row = taken[static_cast<size_t>(i % 6)];
    EXPECT_EQ(copy->id(i), memory.id(row));
    EXPECT_EQ(copy->label(i), memory.label(row));
    EXPECT_EQ(copy->source(i), memory.source(row));
  }
}

TEST_F(RowPartsTest, NoPartsAreAnEmptyMemory) {
  const ResidualMemory memory = Open(WritePart(Describe(problem_, {3, 1, 1}), 0, 10));
  const auto empty = OpenRowParts(memory, {});
  ASSERT_TRUE(empty.ok()) << empty.status().message();
  EXPECT_EQ(empty->capacity(), 0);
}

TEST_F(RowPartsTest, BytesThatAreNoRowsAreRefused) {
  const ResidualMemory memory = Open(WritePart(Describe(problem_, {3, 1, 1}), 0, 50));
  const std::vector<int64_t> taken = {1, 5, 6};
  const auto part = CopyRows(memory, taken);
  ASSERT_TRUE(part.ok());
  const auto refused = [&](const RowPart& changed) {
    const std::vector<RowPart> parts = {changed};
    return !OpenRowParts(memory, parts).ok();
  };
  ASSERT_FALSE(refused(*part));
  std::vector<std::byte> bytes(part->bytes.begin(), part->bytes.end());
  for (size_t at = 0; at < bytes.size(); at += 11) {
    std::vector<std::byte> flipped = bytes;
    flipped[at] ^= std::byte{64};
    RowPart changed = *part;
    changed.bytes = flipped;
    // Padding between sections may be anything that the reader allows; nothing else.
    if (!refused(changed)) {
      const std::vector<RowPart> parts = {changed};
      const auto open = OpenRowParts(memory, parts);
      ASSERT_TRUE(open.ok());
      for (int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(open->id(i), memory.id(taken[static_cast<size_t>(i)])) << at;
        EXPECT_EQ(open->label(i), memory.label(taken[static_cast<size_t>(i)])) << at;
      }
    }
  }
  for (const size_t size : {size_t{0}, size_t{1}, bytes.size() / 2, bytes.size() - 1}) {
    RowPart shorter = *part;
    shorter.bytes = part->bytes.first(size);
    EXPECT_TRUE(refused(shorter)) << size;
  }
  RowPart more = *part;
  more.rows = 4;
  EXPECT_TRUE(refused(more));
  more.rows = -1;
  EXPECT_TRUE(refused(more));
  MemoryDescription half = Describe(problem_, {3, 1, 1});
  half.key_type = KeyType::kFloat16;
  const ResidualMemory other = Open(WritePart(half, 0, 50));
  const std::vector<RowPart> parts = {*part};
  EXPECT_FALSE(OpenRowParts(other, parts).ok());
}

TEST_F(RowPartsTest, RowsThatAreNotThereAreRefused) {
  const ResidualMemory memory = Open(WritePart(Describe(problem_, {3, 1, 1}), 0, 50));
  EXPECT_EQ(CopyRows(memory, {}).status().code(), ErrorCode::kInvalidArgument);
  for (const int64_t row : {int64_t{-1}, int64_t{50}}) {
    const std::vector<int64_t> rows = {row};
    EXPECT_EQ(CopyRows(memory, rows).status().code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace resmem
