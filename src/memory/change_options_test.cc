#include <gtest/gtest.h>

#include <thread>

#include "fixtures/every_memory.h"
#include "fixtures/small_memory.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/manifest.h"
#include "resmem/residual_memory.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;

class ChangeOfMemory : public testing::Test {
 protected:
  ChangeOfMemory() : data_(MakeRows(200, 3, 4)), path_(folder_ / "m") {
    description_.dim = 3;
    description_.outputs = 4;
    fixtures::Write(path_, description_, View(0, 20));
  }

  Rows View(int64_t begin, int64_t count) {
    part_ = data_.Part(begin, count);
    return part_.view(description_);
  }
  // Whether the writer says that it was a repetition.
  Result<bool> Append(const Rows& rows, const AppendOptions& options = {}) {
    RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                            MemoryWriter::Append(path_, rows.count(), options));
    RESMEM_RETURN_IF_ERROR(writer.Add(rows));
    RESMEM_RETURN_IF_ERROR(writer.Finish());
    return writer.repeated();
  }

  const TemporaryFolder folder_{fixtures::FastParent()};
  const RowData data_;
  RowData part_;
  MemoryDescription description_;
  std::string path_;
};

TEST_F(ChangeOfMemory, AppendOfAKnownTokenAddsNothing) {
  EXPECT_FALSE(Append(View(20, 5), {.token = "week 47"}).value());
  EXPECT_TRUE(Append(View(20, 5), {.token = "week 47"}).value());
  EXPECT_EQ(Open(path_).rows(), 25);
  EXPECT_FALSE(Append(View(25, 5), {.token = "week 48"}).value());
  ASSERT_TRUE(CompactMemory(path_).ok());
  EXPECT_TRUE(Append(View(20, 5), {.token = "week 47"}).value());  // it outlives other changes
  EXPECT_EQ(Open(path_).rows(), 30);
}

TEST_F(ChangeOfMemory, TokenOfOtherRowsIsAMismatchAndSomeAreNoTokens) {
  ASSERT_TRUE(Append(View(20, 5), {.token = "week 47"}).ok());
  const Status other = Append(View(20, 6), {.token = "week 47"}).status();
  EXPECT_EQ(other.code(), ErrorCode::kMismatch);
  EXPECT_NE(other.message().find("was given for 5 rows before, now for 6"), std::string::npos);
  for (const std::string& bad : {std::string(201, 'x'), std::string("a\nb")}) {
    EXPECT_EQ(Append(View(30, 1), {.token = bad}).status().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(Open(path_).rows(), 25);
}

TEST_F(ChangeOfMemory, OnlyTheLatestTokensAreKept) {
  Manifest manifest = ReadManifest(FileSystem::Posix(), path_).value();
  for (size_t i = 0; i < kMostTokens; ++i) manifest.append_tokens.push_back({std::to_string(i), 1});
  bool replaced = false;
  ASSERT_TRUE(WriteManifest(FileSystem::Posix(), path_, manifest, &replaced).ok());
  EXPECT_TRUE(replaced);
  ASSERT_TRUE(Append(View(20, 1), {.token = "new"}).ok());
  manifest = ReadManifest(FileSystem::Posix(), path_).value();
  ASSERT_EQ(manifest.append_tokens.size(), kMostTokens);
  EXPECT_EQ(manifest.append_tokens.front().token, "1");
  EXPECT_EQ(manifest.append_tokens.back().token, "new");
}

TEST_F(ChangeOfMemory, WaitsForTheLockAsLongAsItIsTold) {
  auto lock = FileSystem::Posix().Lock(path_ + "/" + kLockName);
  ASSERT_TRUE(lock.ok());
  const std::vector<uint64_t> ids = {data_.ids[3]};
  const Status at_once = DeleteRows(path_, ids);
  EXPECT_EQ(at_once.code(), ErrorCode::kResourceExhausted);
  EXPECT_NE(at_once.message().find("--wait"), std::string::npos) << at_once.message();
  const Status later = DeleteRows(path_, ids, {.wait_seconds = 0.05});
  EXPECT_EQ(later.code(), ErrorCode::kResourceExhausted);
  EXPECT_NE(later.message().find("waited 0.05 s"), std::string::npos) << later.message();
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    lock->reset();
  });
  EXPECT_TRUE(DeleteRows(path_, ids, {.wait_seconds = 60}).ok());
  holder.join();
  EXPECT_EQ(Open(path_).rows(), 19);
}

TEST_F(ChangeOfMemory, ManySmallSegmentsMergeByThemselvesAndAnswerAsBefore) {
  const std::vector<uint64_t> gone = {data_.ids[7], data_.ids[40]};
  for (int64_t row = 20; row < 200; ++row) {
    ASSERT_TRUE(Append(View(row, 1)).ok());
    if (row != 60) continue;
    ASSERT_TRUE(DeleteRows(path_, gone).ok());
  }
  const ResidualMemory memory = Open(path_);
  EXPECT_LE(memory.segments(), 64);
  EXPECT_EQ(memory.rows(), 198);
  ASSERT_EQ(memory.capacity(), 200);  // deleted rows keep their numbers
  for (int64_t row = 0; row < 200; ++row) {
    EXPECT_EQ(memory.id(row), data_.ids[static_cast<size_t>(row)]);
    EXPECT_EQ(memory.deleted(row), row == 7 || row == 40);
    std::vector<float> key(3);
    memory.DecodeKey(row, key);
    EXPECT_TRUE(std::equal(key.begin(), key.end(), data_.keys.begin() + row * 3)) << row;
  }
  EXPECT_TRUE(memory.Verify().ok());
}

TEST_F(ChangeOfMemory, ExactViewIsTheSameStateWhateverOthersDo) {
  const ResidualMemory memory = Open(path_);
  ASSERT_TRUE(Append(View(20, 5)).ok());
  const ResidualMemory exact = memory.Exact();
  EXPECT_EQ(exact.rows(), 20);
  EXPECT_EQ(Open(path_).rows(), 25);
  EXPECT_FALSE(exact.index_info().has_value());
}

TEST_F(ChangeOfMemory, CommittedChangesAreCounted) {
  const int64_t before = CommittedChanges();
  ASSERT_TRUE(Append(View(20, 5)).ok());
  EXPECT_EQ(CommittedChanges(), before + 1);
  EXPECT_FALSE(DeleteRows(path_, std::vector<uint64_t>{~uint64_t{0}}).ok());
  EXPECT_EQ(CommittedChanges(), before + 1);
}

TEST_F(ChangeOfMemory, TooManyNotesAreRefusedBeforeTheyAreWritten) {
  MemoryDescription description = Open(path_).description();
  for (int i = 0; i < 10'001; ++i) description.notes[std::to_string(i)] = "";
  EXPECT_EQ(UpdateDescription(path_, description).code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace resmem
