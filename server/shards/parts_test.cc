#include "shards/parts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "resmem/ram_memory.h"
#include "shards/shard_file.h"

namespace resmem::serve {
namespace {

constexpr int64_t kDim = 3, kClasses = 2, kRows = 7, kQueries = 4, kNeighbors = 3;

std::vector<float> Values(int64_t count, int step) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * step) % 11));
  return values;
}

ResidualMemory Made(const RamFolder& folder) {
  MemoryDescription description;
  description.dim = kDim;
  description.outputs = kClasses;
  const std::vector<float> keys = Values(kRows * kDim, 7), logits = Values(kRows * kClasses, 5);
  const std::vector<int32_t> labels = {0, 1, 1, 0, 1, 0, 0};
  Rows rows;
  rows.keys = MatrixView(keys.data(), kRows, kDim);
  rows.logits = MatrixView(logits.data(), kRows, kClasses);
  rows.labels = labels;
  auto writer = MemoryWriter::Create(folder.path(), description, kRows, {});
  EXPECT_TRUE(writer->Add(rows).ok());
  EXPECT_TRUE(writer->Finish().ok());
  return std::move(ResidualMemory::Open(folder.path())).value();
}

class PartsTest : public testing::Test {
 protected:
  std::string Question(int64_t k = kNeighbors) const {
    return WritePartsQuestion(MatrixView(asked_.data(), kQueries, kDim), k);
  }
  std::string AnswerOf(int64_t k = kNeighbors) const {
    const auto answer = MakePartsAnswer(memory_, *ReadPartsQuestion(Question(k)), 1);
    EXPECT_TRUE(answer.ok()) << answer.status().message();
    return *answer;
  }

  const RamFolder folder_;
  const ResidualMemory memory_ = Made(folder_);
  const std::vector<float> asked_ = Values(kQueries * kDim, 3);
};

TEST_F(PartsTest, AnAnswerHoldsWhatASearchFinds) {
  SearchOptions options;
  options.k = kNeighbors;
  options.squared = true;
  Neighbors found;
  ASSERT_TRUE(
      memory_.index().Search(MatrixView(asked_.data(), kQueries, kDim), options, &found).ok());
  const auto answer = ReadPartsAnswer(AnswerOf(), kQueries, kNeighbors, kRows);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->found.squared, found.squared);
  const std::vector<RowPart> parts = {answer->part};
  const auto rows = OpenRowParts(memory_, parts);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  for (size_t i = 0; i < found.rows.size(); ++i) {
    EXPECT_EQ(answer->rows[static_cast<size_t>(answer->found.rows[i])], found.rows[i]);
    EXPECT_EQ(rows->id(answer->found.rows[i]), memory_.id(found.rows[i]));
  }
}

TEST_F(PartsTest, MoreNeighborsThanRowsEndTheLists) {
  const auto answer = ReadPartsAnswer(AnswerOf(kRows + 2), kQueries, kRows + 2, kRows);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(std::ssize(answer->rows), kRows);
  EXPECT_EQ(answer->found.rows.back(), -1);
}

TEST_F(PartsTest, QuestionsThatAreNoneAreRefused) {
  const std::string question = Question();
  for (size_t size = 0; size < question.size(); ++size) {
    EXPECT_FALSE(ReadPartsQuestion(question.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(ReadPartsQuestion(question + "x").ok());
  for (const size_t at : {size_t{8}, size_t{16}, size_t{24}}) {
    for (const int64_t number :
         {int64_t{0}, int64_t{-1}, int64_t{1} << 62, std::numeric_limits<int64_t>::max()}) {
      std::string changed = question;
      std::memcpy(changed.data() + at, &number, sizeof(number));
      EXPECT_FALSE(ReadPartsQuestion(changed).ok()) << at << " " << number;
    }
  }
}

TEST_F(PartsTest, AnswersThatAreNoListsOfTheShardsRowsAreRefused) {
  const std::string answer = AnswerOf();
  const auto refused = [](const std::string& body) {
    return !ReadPartsAnswer(body, kQueries, kNeighbors, kRows).ok();
  };
  const auto with = [&](size_t at, auto value) {
    std::string changed = answer;
    std::memcpy(changed.data() + at, &value, sizeof(value));
    return changed;
  };
  const size_t squares = 40, rows = squares + 8 * kQueries * kNeighbors;
  ASSERT_FALSE(refused(answer));
  for (size_t size = 0; size < rows + 8 * kQueries * kNeighbors; ++size) {
    EXPECT_TRUE(refused(answer.substr(0, size))) << size;
  }
  for (const size_t at : {size_t{8}, size_t{16}, size_t{24}}) {
    EXPECT_TRUE(refused(with(at, int64_t{kQueries + kNeighbors + kRows + 1}))) << at;
    EXPECT_TRUE(refused(with(at, int64_t{-1}))) << at;
  }
  for (const double square : {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e300}) {
    EXPECT_TRUE(refused(with(squares, square))) << square;  // the first of a list
  }
  for (const int64_t row : {int64_t{-2}, kRows, int64_t{1} << 60}) {
    EXPECT_TRUE(refused(with(rows, row))) << row;
  }
  EXPECT_TRUE(refused(with(rows, int64_t{-1})));                        // with a distance
  EXPECT_FALSE(ReadPartsAnswer(answer, kQueries, kNeighbors, 2).ok());  // a shard of 2 rows
  EXPECT_FALSE(ReadPartsAnswer(answer, kQueries, kNeighbors - 1, kRows).ok());
}

TEST(ShardFile, IsReadAsItIsWritten) {
  const std::string content(32, 'a');
  std::string key_file;
  const auto file = ParseShardFile(
      "# made\nname = digits\nanswers = answers.resmem\nkey-file = k\n"
      "resend-ms = 20\nshard = " +
          content + " 12 10.0.0.1:81 [::1]:82  # two\nshard = " + content +
          " 0 shard-2.example:83\n",
      "/srv/shards.conf", &key_file);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->name, "digits");
  EXPECT_EQ(file->answers, "/srv/answers.resmem");
  EXPECT_EQ(key_file, "k");
  EXPECT_EQ(file->resend.count(), 20);
  EXPECT_EQ(file->deadline.count(), 2000);
  ASSERT_EQ(file->shards.size(), 2u);
  EXPECT_EQ(file->shards[0].rows, 12);
  EXPECT_EQ(file->shards[0].addresses[1].host, "::1");
  EXPECT_EQ(file->shards[0].addresses[1].port, "82");
  EXPECT_EQ(ContentOf(ShardName("a.b", content)), content);
  EXPECT_EQ(ContentOf("digits"), "");
  EXPECT_EQ(ContentOf("digits." + std::string(32, 'A')), "");
}

TEST(ShardFile, WhatIsWrongIsToldWithItsLine) {
  const std::string content(32, 'a'), head = "name = d\nanswers = a\n";
  for (const char* line :
       {"shard = abc 1 h:1", "shard = CONTENT x h:1", "shard = CONTENT 1", "shard = CONTENT 1 h",
        "shard = CONTENT 1 h:0", "shard = CONTENT 1 h:70000", "shard = CONTENT -1 h:1",
        "shard = CONTENT 1 h/x:1", "deadline-ms = 0", "ports = 1", "shard"}) {
    std::string changed = line, key_file;
    if (const size_t at = changed.find("CONTENT"); at != std::string::npos) {
      changed.replace(at, 7, content);
    }
    const auto file = ParseShardFile(head + changed + "\n", "f", &key_file);
    ASSERT_FALSE(file.ok()) << changed;
    EXPECT_NE(file.status().message().find("f, line 3"), std::string::npos) << changed;
  }
  std::string key_file;
  EXPECT_FALSE(ParseShardFile(head, "f", &key_file).ok());  // no shards
}

}  // namespace
}  // namespace resmem::serve
