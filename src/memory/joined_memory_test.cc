#include "resmem_program/joined_memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "fixtures/small_memory.h"
#include "resmem/predictor.h"

namespace resmem {
namespace {

using namespace fixtures;

class JoinedMemoryTest : public testing::Test {
 protected:
  // Rows [begin, end) of the problem, with their numbers as ids.
  std::string WritePart(const MemoryDescription& description, int64_t begin, int64_t end) {
    std::string path = folder_ / ("rows " + std::to_string(begin) + "-" + std::to_string(end));
    std::vector<uint64_t> ids;
    for (int64_t row = begin; row < end; ++row) ids.push_back(static_cast<uint64_t>(row));
    Rows rows = problem_.view().Slice(begin, end - begin);
    rows.ids = ids;
    Write(path, description, rows);
    return path;
  }

  static std::vector<float> ScoresOf(const ResidualMemory& memory, const Problem& queries) {
    const Predictor predictor(memory);
    std::vector<float> scores(queries.logits.size());
    const Rows rows = queries.view();
    EXPECT_TRUE(predictor.Predict(rows.keys, rows.logits, predictor.DefaultOptions(), scores).ok());
    return scores;
  }

  TemporaryFolder folder_;
  Problem problem_ = MakeProblem(300, 6, 4, 1);
  Problem queries_ = MakeProblem(40, 6, 4, 2);
};

TEST_F(JoinedMemoryTest, AnswersBitForBitAsOneMemory) {
  for (const ResidualForm form :
       {ResidualForm::kLogits, ResidualForm::kDense, ResidualForm::kSparse}) {
    for (const KeyTransform transform : {KeyTransform::kNone, KeyTransform::kUnit}) {
      MemoryDescription description = Describe(problem_, {9, 0.8f, 1.2f});
      description.form = form;
      description.top = 3;
      description.key_transform = transform;
      const std::vector<std::string> parts = {WritePart(description, 0, 10),
                                              WritePart(description, 10, 180),
                                              WritePart(description, 180, 300)};
      const ResidualMemory whole = Open(WritePart(description, 0, 300));
      const auto joined = OpenJoined(parts);
      ASSERT_TRUE(joined.ok()) << joined.status().message();
      EXPECT_EQ(joined->rows(), 300);
      EXPECT_EQ(joined->segments(), 3);
      EXPECT_EQ(joined->id(200), 200u);
      EXPECT_EQ(joined->FindId(17), whole.FindId(17));
      EXPECT_EQ(joined->dropped_mass(), whole.dropped_mass());
      EXPECT_EQ(ScoresOf(*joined, queries_), ScoresOf(whole, queries_));
      for (const std::string& part : parts) std::filesystem::remove_all(part);
      std::filesystem::remove_all(folder_ / "rows 0-300");
    }
  }
}

TEST_F(JoinedMemoryTest, DeletedRowsOfEveryPartAreGone) {
  const MemoryDescription description = Describe(problem_, {9, 0.8f, 1.2f});
  const std::vector<std::string> parts = {WritePart(description, 0, 100),
                                          WritePart(description, 100, 300)};
  const std::string whole = WritePart(description, 0, 300);
  const std::vector<uint64_t> first = {0, 99}, second = {100, 250}, both = {0, 99, 100, 250};
  ASSERT_TRUE(DeleteRows(parts[0], first).ok());
  ASSERT_TRUE(DeleteRows(parts[1], second).ok());
  ASSERT_TRUE(DeleteRows(whole, both).ok());
  const auto joined = OpenJoined(parts);
  ASSERT_TRUE(joined.ok()) << joined.status().message();
  EXPECT_EQ(joined->rows(), 296);
  EXPECT_TRUE(joined->deleted(250));
  EXPECT_FALSE(joined->deleted(150));
  EXPECT_EQ(ScoresOf(*joined, queries_), ScoresOf(Open(whole), queries_));
}

TEST_F(JoinedMemoryTest, RefusesMemoriesThatDoNotFit) {
  const MemoryDescription description = Describe(problem_, {9, 0.8f, 1.2f});
  const std::string first = WritePart(description, 0, 100);
  const auto with = [&](auto change, int64_t begin, int64_t end) {
    MemoryDescription other = description;
    change(other);
    const std::vector<std::string> parts = {first, WritePart(other, begin, end)};
    return OpenJoined(parts).status().code();
  };
  EXPECT_EQ(with([](auto&) {}, 100, 200), ErrorCode::kOk);
  EXPECT_EQ(with([](auto& d) { d.parameters.sigma = 2; }, 101, 200), ErrorCode::kMismatch);
  EXPECT_EQ(with([](auto& d) { d.key_type = KeyType::kFloat16; }, 102, 200), ErrorCode::kMismatch);
  EXPECT_EQ(with([](auto& d) { d.fingerprint.digest = "other"; }, 103, 200), ErrorCode::kMismatch);
  EXPECT_EQ(with([](auto& d) { d.key_transform = KeyTransform::kWhiten; }, 104, 200),
            ErrorCode::kUnsupported);
  EXPECT_EQ(with([](auto&) {}, 50, 200), ErrorCode::kCorrupt);  // ids that both have
  EXPECT_EQ(OpenJoined({}).status().code(), ErrorCode::kInvalidArgument);
}

TEST_F(JoinedMemoryTest, ContentHashTellsRowsApartAndNothingElse) {
  MemoryDescription description = Describe(problem_, {9, 0.8f, 1.2f});
  const std::string path = WritePart(description, 0, 200);
  const std::string before = ContentHash(Open(path));
  EXPECT_EQ(before.size(), 32u);
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.5}).ok());
  description.parameters.k = 3;
  ASSERT_TRUE(UpdateDescription(path, description).ok());
  EXPECT_EQ(ContentHash(Open(path)), before);
  const std::vector<uint64_t> ids = {7};
  ASSERT_TRUE(DeleteRows(path, ids).ok());
  EXPECT_NE(ContentHash(Open(path)), before);
  EXPECT_NE(ContentHash(Open(WritePart(description, 1, 201))), before);
}

}  // namespace
}  // namespace resmem
