#include "edits/edit_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "resmem/ram_memory.h"

namespace resmem::serve {
namespace {

// Two columns, three classes, the ids 0 to 9.
class EditMessageTest : public testing::Test {
 protected:
  EditMessageTest() : state_(Make(folder_.path()), {}, 1) {}

  static RowSet SomeRows(int64_t count, float first) {
    RowSet rows;
    rows.rows = count;
    rows.dim = 2;
    rows.outputs = 3;
    for (int64_t row = 0; row < count; ++row) {
      const float at = first + static_cast<float>(row);
      rows.keys.insert(rows.keys.end(), {at, 0.1f});
      rows.logits.insert(rows.logits.end(), {at, 1.0f / 3, -at});
      rows.labels.push_back(static_cast<int32_t>(row % 3));
    }
    return rows;
  }
  static ResidualMemory Make(const std::string& path) {
    MemoryDescription description;
    description.dim = 2;
    description.outputs = 3;
    const RowSet rows = SomeRows(10, 0);
    auto writer = MemoryWriter::Create(path, description, rows.rows, {});
    EXPECT_TRUE(writer.ok() && writer->Add(rows.View()).ok() && writer->Finish().ok());
    return ResidualMemory::Open(path).value();
  }
  static EditMessage Learn(RowSet rows, std::vector<uint64_t> ids = {}) {
    EditMessage edit;
    edit.rows = std::move(rows);
    edit.rows.ids = std::move(ids);
    return edit;
  }
  static EditMessage Forget(std::vector<uint64_t> ids) {
    EditMessage edit;
    edit.kind = Edit::Kind::kForget;
    edit.ids = std::move(ids);
    return edit;
  }
  static EditMessage Relabel(uint64_t id, int32_t label) {
    EditMessage edit = Forget({id});
    edit.kind = Edit::Kind::kRelabel;
    edit.rows.rows = 1;
    edit.rows.labels = {label};
    return edit;
  }

  const RamFolder folder_;
  const MemoryState state_;
};

TEST_F(EditMessageTest, IsReadAsItWasWritten) {
  EditMessage learn = Learn(SomeRows(3, 0.7f));
  learn.who = "labels";
  learn.time = "2026-11-19T22:00:00.000Z";
  learn.token = "a \"token\"";
  const EditMessage read = ReadEditMessage(WriteEditMessage(learn), state_).value();
  EXPECT_EQ(read.rows.keys, learn.rows.keys);
  EXPECT_EQ(read.rows.logits, learn.rows.logits);
  EXPECT_EQ(read.rows.labels, learn.rows.labels);
  EXPECT_TRUE(read.rows.ids.empty());
  EXPECT_EQ(read.who + read.time + read.token, learn.who + learn.time + learn.token);
  const EditMessage relabel = ReadEditMessage(WriteEditMessage(Relabel(7, 2)), state_).value();
  EXPECT_EQ(relabel.kind, Edit::Kind::kRelabel);
  EXPECT_EQ(relabel.ids, std::vector<uint64_t>{7});
  EXPECT_EQ(relabel.rows.labels, std::vector<int32_t>{2});
}

TEST_F(EditMessageTest, WhatIsNoEditIsBadData) {
  for (
      const char* text :
      {"", "[]", "{}", R"({"resmem": 1})", R"({"resmem": 2, "kind": "forget", "ids": [1]})",
       R"({"resmem": 1, "kind": "undo", "ids": [1]})",
       R"({"resmem": 1, "kind": "forget", "ids": []})",
       R"({"resmem": 1, "kind": "forget", "ids": [1, 1]})", R"({"resmem": 1, "kind": "learn"})",
       R"({"resmem": 1, "kind": "learn", "rows": {"keys": [[1]], "logits": [[1, 2, 3]], "labels": [0]}})",
       R"({"resmem": 1, "kind": "relabel", "ids": [1], "labels": [3]})",
       R"({"resmem": 1, "kind": "forget", "ids": [1], "token": 5})"}) {
    EXPECT_EQ(ReadEditMessage(text, state_).status().code(), ErrorCode::kBadData) << text;
  }
}

TEST_F(EditMessageTest, NewRowsSpreadOverTheShardsAndEachHasOneOwner) {
  std::map<int64_t, int> rows_of;
  for (int64_t sequence = 1; sequence <= 3000; ++sequence) {
    ++rows_of[OwnerOf(StreamedId(sequence, 0), 4)];
  }
  ASSERT_EQ(rows_of.size(), 4u);
  for (const auto& [shard, rows] : rows_of) {
    EXPECT_TRUE(shard >= 1 && shard <= 4);
    EXPECT_GT(rows, 600);
    EXPECT_LT(rows, 900);
  }
  size_t learned = 0;
  for (int64_t shard = 1; shard <= 4; ++shard) {
    EditFold fold(state_, shard, 4);
    ASSERT_TRUE(fold.Add(5, Learn(SomeRows(100, 0))).ok());
    for (const uint64_t id : fold.learn().ids) EXPECT_EQ(OwnerOf(id, 4), shard);
    learned += fold.learn().ids.size();
  }
  EXPECT_EQ(learned, 100u);
}

TEST_F(EditMessageTest, RowOfAKnownIdIsReplacedWhoeverHasIt) {
  for (int64_t shard = 1; shard <= 2; ++shard) {
    EditFold fold(state_, shard, 2);
    ASSERT_TRUE(fold.Add(1, Learn(SomeRows(2, 30), {4, 5000})).ok());
    ASSERT_TRUE(fold.Add(2, Learn(SomeRows(1, 50), {5000})).ok());
    EXPECT_EQ(fold.forget(), std::vector<uint64_t>{4});  // this memory had it
    for (const uint64_t id : {uint64_t{4}, uint64_t{5000}}) {
      const std::vector<uint64_t> ids = fold.learn().ids;
      EXPECT_EQ(std::count(ids.begin(), ids.end(), id), OwnerOf(id, 2) == shard ? 1 : 0);
    }
  }
}

TEST_F(EditMessageTest, RowThatComesAndGoesLeavesNothing) {
  EditFold fold(state_, 1, 1);
  ASSERT_TRUE(fold.Add(1, Learn(SomeRows(2, 30))).ok());
  ASSERT_TRUE(fold.Add(2, Forget({StreamedId(1, 0), StreamedId(1, 1), 3, 777})).ok());
  ASSERT_TRUE(fold.Add(3, Forget({3})).ok());
  EXPECT_EQ(fold.learn().rows, 0);
  EXPECT_EQ(fold.forget(), std::vector<uint64_t>{3});
}

TEST_F(EditMessageTest, RelabelOfARowThatIsNotStoredYetWaits) {
  EditFold fold(state_, 1, 1);
  ASSERT_TRUE(fold.Add(1, Learn(SomeRows(2, 30))).ok());
  ASSERT_TRUE(fold.Add(2, Relabel(6, 1)).ok());
  EXPECT_TRUE(fold.MustWait(Relabel(StreamedId(1, 1), 2)));
  EXPECT_TRUE(fold.MustWait(Relabel(6, 2)));
  EXPECT_FALSE(fold.MustWait(Relabel(7, 2)));
  EXPECT_FALSE(fold.MustWait(Forget({6})));
  const RowSet learned = fold.learn();
  EXPECT_EQ(learned.ids, (std::vector<uint64_t>{StreamedId(1, 0), StreamedId(1, 1), 6}));
  EXPECT_EQ(learned.labels[2], 1);
  EXPECT_EQ(learned.keys[4], 6.0f);
}

}  // namespace
}  // namespace resmem::serve
