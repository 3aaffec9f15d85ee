#include "resmem_program/edit_stream.h"

#include <gtest/gtest.h>

#include "fixtures/every_memory.h"
#include "fixtures/faulty_file_system.h"
#include "fixtures/small_memory.h"
#include "memory/rows/row_writer.h"
#include "resmem/snapshots.h"
#include "resmem_program/joined_memory.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;

class EditStream : public testing::Test {
 protected:
  EditStream() : data_(MakeRows(60, 3, 4)), path_(folder_ / "m") {
    description_.dim = 3;
    description_.outputs = 4;
    fixtures::Write(path_, description_, View(0, 20));
  }

  Rows View(int64_t begin, int64_t count) {
    part_ = data_.Part(begin, count);
    return part_.view(description_);
  }
  static StreamPosition At(int64_t sequence) {
    return {"resmem-m", 77, sequence, "seed", 2, 4, {{"mine", sequence}}};
  }
  Status Apply(int64_t from, int64_t to, const Rows& learn, const std::vector<uint64_t>& forget) {
    return ApplyEdits(path_, from, {.learn = learn, .forget = forget, .position = At(to)});
  }
  int64_t Sequence() const { return PositionOf(Open(path_)).value_or(StreamPosition()).sequence; }

  const TemporaryFolder folder_{fixtures::FastParent()};
  const RowData data_;
  RowData part_;
  MemoryDescription description_;
  std::string path_;
};

TEST_F(EditStream, RowsAndPositionChangeAtOnce) {
  EXPECT_FALSE(PositionOf(Open(path_)).has_value());
  ASSERT_TRUE(Apply(0, 5, View(20, 4), {data_.ids[1], data_.ids[7]}).ok());
  const ResidualMemory memory = Open(path_);
  EXPECT_EQ(memory.rows(), 22);
  EXPECT_FALSE(memory.FindId(data_.ids[7]).has_value());
  EXPECT_TRUE(memory.FindId(data_.ids[23]).has_value());
  const StreamPosition position = PositionOf(memory).value();
  EXPECT_EQ(position.stream, "resmem-m");
  EXPECT_EQ(position.created, 77);
  EXPECT_EQ(position.sequence, 5);
  EXPECT_EQ(position.seed, "seed");
  EXPECT_EQ(position.shard, 2);
  EXPECT_EQ(position.shards, 4);
  ASSERT_EQ(position.named.size(), 1u);
  EXPECT_EQ(position.named[0].token, "mine");
  EXPECT_TRUE(memory.Verify().ok());
}

TEST_F(EditStream, AppliedTwiceIsRefusedAndChangesNothing) {
  ASSERT_TRUE(Apply(0, 5, View(20, 4), {}).ok());
  EXPECT_EQ(Apply(0, 5, View(20, 4), {}).code(), ErrorCode::kMismatch);
  EXPECT_EQ(Apply(4, 6, View(24, 4), {}).code(), ErrorCode::kMismatch);
  EXPECT_EQ(Apply(5, 5, View(24, 4), {}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Open(path_).rows(), 24);
  EXPECT_EQ(Sequence(), 5);
}

TEST_F(EditStream, RowLearnedAgainUnderItsIdTakesItsPlaceAtTheEnd) {
  Rows again = View(3, 1);
  const std::vector<int32_t> label = {(again.labels[0] + 1) % 4};
  again.labels = label;
  EXPECT_EQ(Apply(0, 1, again, {}).code(), ErrorCode::kBadData);  // it lives
  ASSERT_TRUE(Apply(0, 1, again, {data_.ids[3]}).ok());
  const ResidualMemory memory = Open(path_);
  EXPECT_EQ(memory.rows(), 20);
  EXPECT_EQ(memory.label(memory.FindId(data_.ids[3]).value()), label[0]);
  EXPECT_EQ(memory.FindId(data_.ids[3]).value(), 20);
  EXPECT_TRUE(memory.Verify().ok());
}

TEST_F(EditStream, UnknownIdChangesNothing) {
  EXPECT_EQ(Apply(0, 5, View(20, 4), {uint64_t{1} << 50}).code(), ErrorCode::kNotFound);
  EXPECT_EQ(Open(path_).rows(), 20);
  EXPECT_EQ(Sequence(), 0);
}

TEST_F(EditStream, OtherChangesOfRowsAreRefusedUntilTheMemoryLeaves) {
  ASSERT_TRUE(Apply(0, 5, View(20, 4), {}).ok());
  const std::vector<uint64_t> ids = {data_.ids[3]};
  const Status deleted = DeleteRows(path_, ids);
  EXPECT_EQ(deleted.code(), ErrorCode::kUnsupported);
  EXPECT_NE(deleted.message().find("stream of edits resmem-m"), std::string::npos);
  EXPECT_EQ(MemoryWriter::Append(path_, 4).status().code(), ErrorCode::kUnsupported);
  ASSERT_TRUE(CompactMemory(path_).ok());
  EXPECT_EQ(Sequence(), 5);
  ASSERT_TRUE(LeaveStream(path_).ok());
  EXPECT_EQ(LeaveStream(path_).code(), ErrorCode::kNotFound);
  EXPECT_TRUE(DeleteRows(path_, ids).ok());
}

TEST_F(EditStream, RollingBackBringsThePositionBack) {
  ASSERT_TRUE(Apply(0, 5, View(20, 4), {}).ok());
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  ASSERT_TRUE(Apply(5, 9, View(24, 4), {data_.ids[0]}).ok());
  ASSERT_TRUE(RollBack(path_, "monday").ok());
  EXPECT_EQ(Sequence(), 5);
  EXPECT_EQ(Open(path_).rows(), 24);
}

TEST_F(EditStream, FailureAnywhereLeavesRowsAndPositionOfOneMoment) {
  const std::vector<uint64_t> gone = {data_.ids[1], data_.ids[7]};
  bool made = false;
  int64_t call = 0;
  for (; !made && call < 100; ++call) {
    fixtures::FaultyFileSystem files(fixtures::FaultyFileSystem::Fault::kFailOnce, call);
    const Rows rows = View(20, 4);
    const auto apply = [&]() -> Status {
      RESMEM_ASSIGN_OR_RETURN(
          const std::unique_ptr<RowWriter> writer,
          RowWriter::Follow(files, path_, 0, {.learn = rows, .forget = gone, .position = At(5)},
                            {}));
      RESMEM_RETURN_IF_ERROR(writer->Add(rows));
      return writer->Finish();
    };
    const bool ok = apply().ok();
    const ResidualMemory memory = Open(path_);
    made = Sequence() == 5;
    EXPECT_TRUE(made || !ok) << call;
    EXPECT_EQ(memory.rows(), made ? 22 : 20) << call;
    EXPECT_EQ(memory.FindId(data_.ids[7]).has_value(), !made) << call;
    EXPECT_TRUE(memory.Verify().ok()) << call;
  }
  EXPECT_TRUE(made);
  EXPECT_GT(call, 8);
}

TEST_F(EditStream, ManySmallEditsEndAsOneLargeOne) {
  for (int64_t row = 20; row < 60; ++row) {
    ASSERT_TRUE(
        Apply(row - 20, row - 19, View(row, 1), {data_.ids[static_cast<size_t>(row - 20)]}).ok());
  }
  const std::string other = folder_ / "other";
  fixtures::Write(other, description_, View(0, 20));
  const std::vector<uint64_t> gone(data_.ids.begin(), data_.ids.begin() + 20);
  ASSERT_TRUE(
      ApplyEdits(other, 0, {.learn = View(20, 20), .forget = gone, .position = At(20)}).ok());
  const std::vector<uint64_t> later(data_.ids.begin() + 20, data_.ids.begin() + 40);
  ASSERT_TRUE(
      ApplyEdits(other, 20, {.learn = View(40, 20), .forget = later, .position = At(40)}).ok());
  for (const std::string& path : {path_, other}) ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_EQ(ContentHash(Open(path_)), ContentHash(Open(other)));
}

}  // namespace
}  // namespace resmem
