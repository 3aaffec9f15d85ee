#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "fixtures/every_memory.h"
#include "fixtures/file_bytes.h"
#include "memory/rows/stored_rows.h"
#include "resmem/residual_memory.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::ReadBytes;
using fixtures::TemporaryFolder;
using fixtures::Write;

void Append(const std::string& path, const Rows& rows) {
  auto writer = MemoryWriter::Append(path, rows.count());
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  const Status added = writer->Add(rows);
  ASSERT_TRUE(added.ok()) << added.message();
  const Status finished = writer->Finish();
  ASSERT_TRUE(finished.ok()) << finished.message();
}

// The bytes of the only segment of a memory.
std::string OnlySegment(const std::string& path) {
  const auto rows = StoredRows::Load(FileSystem::Posix(), path);
  EXPECT_TRUE(rows.ok());
  EXPECT_EQ(rows->segments().size(), 1u);
  return ReadBytes(rows->segments().front().file().path());
}

TEST(CompactMemory, LeavesTheBytesOfAMemoryBuiltWithoutTheDeletedRows) {
  const TemporaryFolder folder(fixtures::FastParent());
  const RowData data = MakeRows(90, 3, 4);
  const std::vector<int64_t> gone = {0, 1, 17, 39, 40, 41, 89};
  for (const MemoryDescription& description : EveryDescription(3, 4)) {
    SCOPED_TRACE(NameOf(description));
    const std::string worn = folder / ("worn_" + NameOf(description));
    const std::string fresh = folder / ("fresh_" + NameOf(description));
    Write(worn, description, data.Part(0, 40).view(description));
    Append(worn, data.Part(40, 1).view(description));
    Append(worn, data.Part(41, 49).view(description));
    std::vector<uint64_t> ids;
    for (const int64_t row : gone) ids.push_back(data.ids[static_cast<size_t>(row)]);
    ASSERT_TRUE(DeleteRows(worn, std::span(ids).first(3)).ok());
    ASSERT_TRUE(DeleteRows(worn, std::span(ids).subspan(3)).ok());
    EXPECT_EQ(Open(worn).rows(), 83);
    EXPECT_EQ(Open(worn).capacity(), 90);
    ASSERT_TRUE(CompactMemory(worn).ok());

    Write(fresh, description, data.Without(gone).view(description));
    EXPECT_EQ(OnlySegment(worn), OnlySegment(fresh));
    EXPECT_EQ(Open(worn).capacity(), 83);
    EXPECT_EQ(FileSystem::Posix().List(worn).value().size(), 2u);
  }
}

TEST(CompactMemory, FreezingGivesTheBytesOfAMemoryWrittenFrozen) {
  const TemporaryFolder folder;
  for (const int64_t outputs : {int64_t{4}, int64_t{1100}}) {
    const RowData data = MakeRows(20, 3, outputs);
    MemoryDescription description = Small();
    description.outputs = outputs;
    description.top = 5;
    const std::string path = folder / std::to_string(outputs), frozen = path + "_frozen";
    Write(path, description, data.view(description));
    CompactOptions options;
    options.freeze = true;
    ASSERT_TRUE(CompactMemory(path, options).ok());
    description.form = outputs == 4 ? ResidualForm::kDense : ResidualForm::kSparse;
    Write(frozen, description, data.view(description));
    EXPECT_EQ(OnlySegment(path), OnlySegment(frozen));
    const ResidualMemory memory = Open(path);
    EXPECT_EQ(memory.description().form, description.form);
    // Frozen is frozen.
    MemoryDescription warmer = memory.description();
    warmer.parameters.temperature += 1;
    EXPECT_EQ(UpdateDescription(path, warmer).code(), ErrorCode::kInvalidArgument);
  }
}

TEST(CompactMemory, WithEveryRowDeletedNothingIsLeftAndRowsCanComeBack) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const RowData data = MakeRows(5, 3, 4);
  Write(path, Small(), data.view(Small()));
  ASSERT_TRUE(DeleteRows(path, data.ids).ok());
  EXPECT_EQ(Open(path).rows(), 0);
  ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_EQ(FileSystem::Posix().List(path).value(), std::vector<std::string>{"MANIFEST"});
  EXPECT_EQ(Open(path).capacity(), 0);
  Append(path, data.view(Small()));
  EXPECT_EQ(Open(path).rows(), 5);
}

TEST(CompactMemory, CancelledChangesNothing) {
  struct Stop final : Progress {
    bool Cancelled() const override { return true; }
  } stop;
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  Write(path, Small(), MakeRows(5, 3, 4).view(Small()));
  const std::string before = OnlySegment(path);
  CompactOptions options;
  options.freeze = true;
  options.progress = &stop;
  EXPECT_EQ(CompactMemory(path, options).code(), ErrorCode::kCancelled);
  EXPECT_EQ(OnlySegment(path), before);
  EXPECT_EQ(FileSystem::Posix().List(path).value().size(), 2u);
}

TEST(DeleteRows, AreGoneFromAnswersAtTheNextOpenOnly) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const RowData data = MakeRows(9, 3, 4);
  Write(path, Small(), data.view(Small()));
  const ResidualMemory before = Open(path);
  const std::vector<uint64_t> ids = {data.ids[4], data.ids[4]};
  ASSERT_TRUE(DeleteRows(path, ids).ok());
  const ResidualMemory after = Open(path);
  const MatrixView query(data.keys.data() + 4 * 3, 1, 3);
  Neighbors neighbors;
  ASSERT_TRUE(before.index().Search(query, {}, &neighbors).ok());
  EXPECT_EQ(neighbors.rows[0], 4);
  ASSERT_TRUE(after.index().Search(query, {}, &neighbors).ok());
  EXPECT_NE(neighbors.rows[0], 4);
  EXPECT_EQ(after.rows(), 8);
  EXPECT_TRUE(after.deleted(4));
  EXPECT_FALSE(after.FindId(data.ids[4]).has_value());
  // A second time, or unknown beside known: nothing is deleted.
  const std::vector<uint64_t> again = {data.ids[0], data.ids[4]};
  const Status status = DeleteRows(path, again);
  EXPECT_EQ(status.code(), ErrorCode::kNotFound);
  EXPECT_NE(status.message().find(std::to_string(data.ids[4])), std::string::npos);
  EXPECT_EQ(Open(path).rows(), 8);
}

TEST(Append, NumbersGoOnAndAnOpenMemoryStaysAsItWas) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const RowData data = MakeRows(6, 3, 4);
  Write(path, Small(), data.Part(0, 4).view(Small(), /*with_ids=*/false));
  const ResidualMemory before = Open(path);
  Append(path, data.Part(4, 2).view(Small(), /*with_ids=*/false));
  EXPECT_EQ(before.rows(), 4);
  const ResidualMemory after = Open(path);
  ASSERT_EQ(after.rows(), 6);
  EXPECT_EQ(after.segments(), 2);
  for (int64_t row = 0; row < 6; ++row) EXPECT_EQ(after.id(row), static_cast<uint64_t>(row));
  // Numbers are never used twice, even when their rows are gone.
  const std::vector<uint64_t> ids = {4, 5};
  ASSERT_TRUE(DeleteRows(path, ids).ok());
  ASSERT_TRUE(CompactMemory(path).ok());
  Append(path, data.Part(4, 2).view(Small(), /*with_ids=*/false));
  EXPECT_EQ(Open(path).id(4), 6u);
}

TEST(Append, ReadsNoOldRowForFreshIds) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  Write(path, Small(), MakeRows(4, 3, 4).view(Small()));
  // Were the old segment read, this would be found.
  std::filesystem::resize_file(path + "/segment-000001.resmem", 10);
  RowData more = MakeRows(2, 3, 4);
  more.ids = {1000, 1001};
  Append(path, more.view(Small()));
}

TEST(UpdateDescription, ReplacesWhatTuningChoosesAndKeepsTheRest) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  MemoryDescription description = Small();
  description.fingerprint = {"model", "layer"};
  Write(path, description, MakeRows(4, 3, 4).view(description));
  const std::string created = Open(path).description().created;
  MemoryDescription tuned = description;
  tuned.parameters = {9, 0.25f, 3.0f};
  tuned.tuned = true;
  tuned.calibrator = "simplex";
  tuned.notes = {{"trace", "x"}};
  tuned.fingerprint = {"another", "one"};
  ASSERT_TRUE(UpdateDescription(path, tuned).ok());
  const ResidualMemory memory = Open(path);
  EXPECT_EQ(memory.description().parameters.k, 9);
  EXPECT_EQ(memory.description().parameters.temperature, 3.0f);
  EXPECT_TRUE(memory.description().tuned);
  EXPECT_EQ(memory.description().calibrator, "simplex");
  EXPECT_EQ(memory.description().notes.at("trace"), "x");
  EXPECT_EQ(memory.description().fingerprint, description.fingerprint);
  EXPECT_EQ(memory.description().created, created);
  tuned.calibrator = "isotonic";
  const Status unknown = UpdateDescription(path, tuned);
  EXPECT_EQ(unknown.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(unknown.message().find("clip, simplex and log-temperature"), std::string::npos);
  EXPECT_EQ(Open(path).description().calibrator, "simplex");
  tuned.calibrator = "log-temperature";
  tuned.calibrator_temperature = std::numeric_limits<float>::infinity();
  EXPECT_EQ(UpdateDescription(path, tuned).code(), ErrorCode::kInvalidArgument);
  tuned.calibrator_temperature = 2;
  ASSERT_TRUE(UpdateDescription(path, tuned).ok());
  tuned.dim = 5;
  EXPECT_EQ(UpdateDescription(path, tuned).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(UpdateDescription(folder / "none", description).code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace resmem
