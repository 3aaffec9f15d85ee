#include "memory/snapshots/snapshots.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "fixtures/every_memory.h"
#include "fixtures/faulty_file_system.h"
#include "fixtures/small_memory.h"
#include "memory/manifest/manifest_json.h"
#include "resmem/ram_memory.h"

namespace resmem {
namespace {

namespace fs = std::filesystem;
using fixtures::Describe;
using fixtures::MakeProblem;
using fixtures::Problem;
using fixtures::TemporaryFolder;

// A file system without second names, as FAT and some network ones are.
class LinklessFileSystem final : public fixtures::FaultyFileSystem {
 public:
  LinklessFileSystem() : FaultyFileSystem(Fault::kFailOnce, -1) {}
  Status Link(const std::string& from, const std::string&) override {
    return {ErrorCode::kUnsupported, from + ": no links here"};
  }
};

std::string SegmentOf(const std::string& path) {
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().filename().string().starts_with("segment-")) return entry.path();
  }
  return "";
}

int64_t NamesOf(const std::string& file) {
  struct stat info {};
  EXPECT_EQ(::stat(file.c_str(), &info), 0) << file;
  return static_cast<int64_t>(info.st_nlink);
}

void Append(const std::string& path, const Problem& problem) {
  auto writer = MemoryWriter::Append(path, problem.rows);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  ASSERT_TRUE(writer->Add(problem.view()).ok());
  ASSERT_TRUE(writer->Finish().ok());
}

// All that answers are made of.
std::vector<float> Content(const std::string& path) {
  const ResidualMemory memory = fixtures::Open(path);
  const MemoryDescription& d = memory.description();
  std::vector<float> content = {d.parameters.sigma, static_cast<float>(d.parameters.k)};
  std::vector<float> key(static_cast<size_t>(d.dim)), residual(static_cast<size_t>(d.outputs));
  for (int64_t row = 0; row < memory.capacity(); ++row) {
    if (memory.deleted(row)) continue;
    content.push_back(static_cast<float>(memory.id(row)));
    memory.DecodeKey(row, key);
    memory.Residual(row, d.parameters.temperature, residual);
    content.insert(content.end(), key.begin(), key.end());
    content.insert(content.end(), residual.begin(), residual.end());
  }
  return content;
}

class Snapshots : public testing::Test {
 protected:
  void SetUp() override {
    fixtures::Write(path_, Describe(problem_, {5, 0.5f, 1.4f}), problem_.view());
  }
  void Delete(std::vector<uint64_t> ids) { ASSERT_TRUE(DeleteRows(path_, ids).ok()); }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "m.resmem";
  const Problem problem_ = MakeProblem(40, 4, 3, 1), more_ = MakeProblem(10, 4, 3, 2);
};

TEST_F(Snapshots, ShareTheirFilesWithTheMemory) {
  ASSERT_TRUE(TakeSnapshot(path_, "monday", {.note = "before the clean-up"}).ok());
  EXPECT_EQ(NamesOf(SegmentOf(path_)), 2);
  const auto list = ListSnapshots(path_);
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->snapshots.size(), 1u);
  const SnapshotInfo& info = list->snapshots[0];
  EXPECT_EQ(info.name, "monday");
  EXPECT_EQ(info.note, "before the clean-up");
  EXPECT_EQ(info.rows, 40);
  EXPECT_EQ(info.created.size(), std::string("2026-11-16T01:02:03Z").size());
  // Nothing but its manifest is its own.
  EXPECT_EQ(info.own_bytes,
            static_cast<int64_t>(fs::file_size(SnapshotPath(path_, "monday") + "/MANIFEST")));
  EXPECT_EQ(list->own_bytes, info.own_bytes);
  EXPECT_EQ(info.bytes, info.own_bytes + static_cast<int64_t>(fs::file_size(SegmentOf(path_))));
}

TEST_F(Snapshots, KeepWhatCompactionRemovesFromTheMemory) {
  const std::vector<float> before = Content(path_);
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  const auto segment_bytes = static_cast<int64_t>(fs::file_size(SegmentOf(path_)));
  Delete({3, 4});
  Append(path_, more_);
  ASSERT_TRUE(CompactMemory(path_).ok());
  EXPECT_NE(Content(path_), before);
  EXPECT_EQ(Content(SnapshotPath(path_, "monday")), before);
  const auto list = ListSnapshots(path_);
  ASSERT_TRUE(list.ok());
  EXPECT_GE(list->own_bytes, segment_bytes);
  EXPECT_TRUE(fixtures::Open(SnapshotPath(path_, "monday")).Verify().ok());
}

TEST_F(Snapshots, BringTheMemoryBack) {
  const std::vector<float> before = Content(path_);
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  Delete({3, 4});
  Append(path_, more_);
  ASSERT_TRUE(CompactMemory(path_).ok());
  MemoryDescription description = fixtures::Open(path_).description();
  description.parameters = {7, 0.25f, 2.0f};
  description.notes["tuning"] = "by hand";
  ASSERT_TRUE(UpdateDescription(path_, description).ok());
  ASSERT_TRUE(RollBack(path_, "monday").ok());
  EXPECT_EQ(Content(path_), before);
  EXPECT_TRUE(fixtures::Open(path_).description().notes.empty());
  // The snapshot is still there, and the memory can be changed.
  EXPECT_EQ(Content(SnapshotPath(path_, "monday")), before);
  Append(path_, more_);
  const ResidualMemory memory = fixtures::Open(path_);
  EXPECT_EQ(memory.rows(), 50);
  // Ids of rows that were appended and taken back are never given again.
  EXPECT_TRUE(memory.FindId(50).has_value());
  EXPECT_FALSE(memory.FindId(40).has_value());
  EXPECT_EQ(Content(SnapshotPath(path_, "monday")), before);
}

TEST_F(Snapshots, BringBackAnIndexATransformAndTokens) {
  const std::string path = folder_ / "rich.resmem";
  MemoryDescription description = Describe(problem_, {5, 0.5f, 1.4f});
  description.key_transform = KeyTransform::kWhiten;
  fixtures::Write(path, description, problem_.view());
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9}).ok());
  const std::vector<float> before = Content(path);
  ASSERT_TRUE(TakeSnapshot(path, "a").ok());
  const auto append = [&]() -> Result<bool> {
    RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                            MemoryWriter::Append(path, more_.rows, {.token = "week47"}));
    if (writer.repeated()) return true;
    RESMEM_RETURN_IF_ERROR(writer.Add(more_.view()));
    RESMEM_RETURN_IF_ERROR(writer.Finish());
    return false;
  };
  EXPECT_FALSE(append().value());
  EXPECT_TRUE(append().value());
  description.key_transform = KeyTransform::kNone;
  ASSERT_TRUE(UpdateDescription(path, description).ok());
  ASSERT_TRUE(RemoveIndex(path).ok());
  ASSERT_TRUE(RollBack(path, "a").ok());
  EXPECT_EQ(Content(path), before);
  EXPECT_TRUE(fixtures::Open(path).index_info().has_value());
  EXPECT_EQ(fixtures::Open(path).description().key_transform, KeyTransform::kWhiten);
  // The rows of that append are gone, so it is no repetition.
  EXPECT_FALSE(append().value());
}

TEST_F(Snapshots, AreNotChangedByAnything) {
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  const std::string snapshot = SnapshotPath(path_, "monday");
  const std::vector<float> before = Content(snapshot);
  const std::vector<uint64_t> ids = {3};
  EXPECT_EQ(DeleteRows(snapshot, ids).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CompactMemory(snapshot).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(MemoryWriter::Append(snapshot, 1).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(MemoryWriter::Create(snapshot, Describe(problem_, {}), 1, {.overwrite = true})
                .status()
                .code(),
            ErrorCode::kInvalidArgument);
  const Status status = TakeSnapshot(snapshot, "again");
  EXPECT_NE(status.message().find("is a snapshot, which nothing changes"), std::string::npos)
      << status.message();
  EXPECT_EQ(Content(snapshot), before);
  // A copy is a memory like any other.
  ASSERT_TRUE(CopyMemory(snapshot, folder_ / "copy").ok());
  EXPECT_TRUE(DeleteRows(folder_ / "copy", ids).ok());
}

TEST_F(Snapshots, OfAnOverwrittenMemoryBringItBack) {
  const std::vector<float> before = Content(path_);
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  const Problem other = MakeProblem(20, 6, 2, 3);
  auto writer = MemoryWriter::Create(path_, Describe(other, {}), 20, {.overwrite = true});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Add(other.view()).ok());
  ASSERT_TRUE(writer->Finish().ok());
  ASSERT_TRUE(RollBack(path_, "monday").ok());
  EXPECT_EQ(Content(path_), before);
}

TEST_F(Snapshots, AreGoneWhenDropped) {
  ASSERT_TRUE(TakeSnapshot(path_, "a").ok());
  ASSERT_TRUE(TakeSnapshot(path_, "b").ok());
  EXPECT_EQ(NamesOf(SegmentOf(path_)), 3);
  ASSERT_TRUE(DropSnapshot(path_, "a").ok());
  EXPECT_EQ(NamesOf(SegmentOf(path_)), 2);
  ASSERT_EQ(ListSnapshots(path_)->snapshots.size(), 1u);
  ASSERT_TRUE(DropSnapshot(path_, "b").ok());
  EXPECT_FALSE(fs::exists(path_ + "/snapshots"));
  EXPECT_EQ(DropSnapshot(path_, "b").code(), ErrorCode::kNotFound);
}

TEST_F(Snapshots, OfWrongNamesAreRefused) {
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  const Status twice = TakeSnapshot(path_, "monday");
  EXPECT_EQ(twice.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(twice.message().find("already"), std::string::npos);
  for (const std::string name : {"", ".", "..", "../x", "a/b", "-x", "a.tmp", "ä", "a b"}) {
    EXPECT_EQ(TakeSnapshot(path_, name).code(), ErrorCode::kInvalidArgument) << name;
    EXPECT_EQ(DropSnapshot(path_, name).code(), ErrorCode::kInvalidArgument) << name;
    EXPECT_EQ(RollBack(path_, name).code(), ErrorCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(TakeSnapshot(path_, std::string(65, 'a')).code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(TakeSnapshot(path_, std::string(64, 'a')).ok());
  EXPECT_EQ(RollBack(path_, "tuesday").code(), ErrorCode::kNotFound);
  EXPECT_EQ(TakeSnapshot(folder_ / "none", "a").code(), ErrorCode::kNotFound);
}

TEST_F(Snapshots, InRamAreRefused) {
  const RamFolder ram;
  ASSERT_TRUE(CopyMemory(path_, ram.path()).ok());
  EXPECT_EQ(TakeSnapshot(ram.path(), "a").code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(ListSnapshots(ram.path())->snapshots.empty());
}

TEST_F(Snapshots, AreCopiesWhereTheFileSystemHasNoLinks) {
  LinklessFileSystem files;
  const std::vector<float> before = Content(path_);
  ASSERT_TRUE(TakeSnapshot(files, path_, "monday").ok());
  EXPECT_EQ(NamesOf(SegmentOf(path_)), 1);
  Delete({3});
  ASSERT_TRUE(RollBack(files, path_, "monday").ok());
  EXPECT_EQ(Content(path_), before);
}

TEST_F(Snapshots, ThatAreDamagedAreNotRolledBackTo) {
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  Delete({3});
  ASSERT_TRUE(CompactMemory(path_).ok());
  const std::vector<float> now = Content(path_);
  const std::string segment = SegmentOf(SnapshotPath(path_, "monday"));
  {
    std::fstream file(segment, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-40, std::ios::end);
    const int byte = file.get();
    file.seekp(-40, std::ios::end);
    file.put(static_cast<char>(byte ^ 1));
  }
  EXPECT_EQ(RollBack(path_, "monday").code(), ErrorCode::kCorrupt);
  EXPECT_EQ(Content(path_), now);
  fs::remove(segment);
  EXPECT_FALSE(RollBack(path_, "monday").ok());
  const std::vector<uint64_t> ids = {5};
  EXPECT_FALSE(FindInSnapshots(path_, ids).ok());
  fs::remove(SnapshotPath(path_, "monday") + "/MANIFEST");
  const auto list = ListSnapshots(path_);
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->snapshots.size(), 1u);
  EXPECT_FALSE(list->snapshots[0].problem.empty());
  EXPECT_TRUE(DropSnapshot(path_, "monday").ok());
}

// Programs from before the field drop it when they change the folder.
TEST_F(Snapshots, ThatAnOlderProgramChangedAreRefused) {
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  const std::string snapshot = SnapshotPath(path_, "monday");
  auto manifest = ReadManifest(FileSystem::Posix(), snapshot);
  ASSERT_TRUE(manifest.ok());
  manifest->snapshot.reset();
  ASSERT_TRUE(WriteManifest(FileSystem::Posix(), snapshot, *manifest).ok());
  EXPECT_EQ(RollBack(path_, "monday").code(), ErrorCode::kCorrupt);
  EXPECT_NE(ListSnapshots(path_)->snapshots[0].problem.find("older program"), std::string::npos);
}

TEST_F(Snapshots, TellWhichForgottenRowsTheyHold) {
  ASSERT_TRUE(TakeSnapshot(path_, "all").ok());
  Delete({3});
  ASSERT_TRUE(TakeSnapshot(path_, "without3").ok());
  Delete({4, 5});
  const std::vector<uint64_t> ids = {5, 3, 4};
  auto found = FindInSnapshots(path_, ids);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].name, "all");
  EXPECT_EQ((*found)[0].ids, (std::vector<uint64_t>{3, 4, 5}));
  EXPECT_EQ((*found)[1].name, "without3");
  EXPECT_EQ((*found)[1].ids, (std::vector<uint64_t>{4, 5}));
  ASSERT_TRUE(DropSnapshot(path_, "all").ok());
  ASSERT_TRUE(DropSnapshot(path_, "without3").ok());
  EXPECT_TRUE(FindInSnapshots(path_, ids)->empty());
}

TEST_F(Snapshots, DifferByRowsAndSettings) {
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  Delete({3, 7});
  Append(path_, more_);
  MemoryDescription description = fixtures::Open(path_).description();
  description.parameters.sigma = 0.25f;
  ASSERT_TRUE(UpdateDescription(path_, description).ok());
  ASSERT_TRUE(CompactMemory(path_).ok());
  const ResidualMemory before = fixtures::Open(SnapshotPath(path_, "monday"));
  const auto difference = CompareMemories(before, fixtures::Open(path_));
  ASSERT_TRUE(difference.ok());
  EXPECT_EQ(difference->rows_before, 40);
  EXPECT_EQ(difference->rows_after, 48);
  EXPECT_EQ(difference->removed, (std::vector<uint64_t>{3, 7}));
  EXPECT_EQ(difference->added.size(), 10u);
  EXPECT_EQ(difference->added.front(), 40u);
  EXPECT_TRUE(difference->changed.empty());
  ASSERT_EQ(difference->settings.size(), 1u);
  EXPECT_EQ(difference->settings[0].name, "sigma");
  EXPECT_EQ(difference->settings[0].before, "0.5");
  EXPECT_EQ(difference->settings[0].after, "0.25");
  int64_t added = 0, removed = 0;
  for (const auto& rows : difference->classes) {
    added += rows.added;
    removed += rows.removed;
  }
  EXPECT_EQ(added, 10);
  EXPECT_EQ(removed, 2);
  EXPECT_TRUE(CompareMemories(before, before)->none());
}

TEST_F(Snapshots, DifferByContentUnderTheSameId) {
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  Problem changed = problem_;
  changed.labels[2] = (changed.labels[2] + 1) % 3;
  changed.keys[4 * 9] += 1;
  const std::string other = folder_ / "other";
  fixtures::Write(other, Describe(changed, {5, 0.5f, 1.4f}), changed.view());
  const auto difference =
      CompareMemories(fixtures::Open(SnapshotPath(path_, "monday")), fixtures::Open(other));
  ASSERT_TRUE(difference.ok());
  EXPECT_EQ(difference->changed, (std::vector<uint64_t>{2, 9}));
  const Problem wide = MakeProblem(5, 6, 3, 4);
  fixtures::Write(folder_ / "wide", Describe(wide, {}), wide.view());
  EXPECT_EQ(
      CompareMemories(fixtures::Open(path_), fixtures::Open(folder_ / "wide")).status().code(),
      ErrorCode::kMismatch);
}

TEST_F(Snapshots, WithAWrongFieldAreCorrupt) {
  ASSERT_TRUE(TakeSnapshot(path_, "monday").ok());
  const auto manifest = ReadManifest(FileSystem::Posix(), SnapshotPath(path_, "monday"));
  ASSERT_TRUE(manifest.ok());
  const std::string json = ManifestToJson(*manifest).value();
  ASSERT_TRUE(ManifestFromJson(json).ok());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = json;
    text.replace(text.find(from), from.size(), to);
    return ManifestFromJson(text).status().code();
  };
  EXPECT_EQ(with("\"name\": \"monday\"", "\"name\": 7"), ErrorCode::kCorrupt);
  EXPECT_EQ(with("\"note\": \"\"", "\"other\": \"\""), ErrorCode::kCorrupt);
  EXPECT_EQ(with("\"snapshot\": {", "\"snapshot\": 1, \"x\": {"), ErrorCode::kCorrupt);
}

TEST(SnapshotPaths, TellTheMemory) {
  EXPECT_EQ(MemoryOfSnapshot("a/m.resmem/snapshots/monday"), "a/m.resmem");
  EXPECT_EQ(MemoryOfSnapshot("m.resmem/snapshots/monday/"), "m.resmem");
  EXPECT_EQ(MemoryOfSnapshot("snapshots/monday"), ".");
  EXPECT_EQ(MemoryOfSnapshot("m.resmem"), "");
}

}  // namespace
}  // namespace resmem
