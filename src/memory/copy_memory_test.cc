#include "memory/copy_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "fixtures/small_memory.h"
#include "memory/manifest/file_names.h"
#include "resmem/predictor.h"
#include "resmem/ram_memory.h"

namespace resmem {
namespace {

using fixtures::MakeProblem;
using fixtures::Problem;
using fixtures::TemporaryFolder;

std::map<std::string, std::string> BytesOfFiles(const std::string& path) {
  std::map<std::string, std::string> bytes;
  const auto files = ReadMemoryFiles(path);
  EXPECT_TRUE(files.ok()) << files.status().message();
  if (!files.ok()) return bytes;
  for (const MemoryFile& file : *files) {
    bytes[file.name] = {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
  }
  return bytes;
}

std::vector<float> ScoresOf(const std::string& path, const Problem& queries) {
  const ResidualMemory memory = fixtures::Open(path);
  const Predictor predictor(memory);
  std::vector<float> scores(queries.logits.size());
  const Rows rows = queries.view();
  EXPECT_TRUE(predictor.Predict(rows.keys, rows.logits, predictor.DefaultOptions(), scores).ok());
  return scores;
}

TEST(MemoryInRam, HasTheSameSegmentsAndScoresAsOnDisk) {
  const TemporaryFolder folder;
  const Problem problem = MakeProblem(500, 8, 4, 1), queries = MakeProblem(50, 8, 4, 2);
  const RamFolder ram;
  for (const std::string& path : {folder / "disk", ram.path()}) {
    fixtures::Write(path, fixtures::Describe(problem, {}), problem.view());
    ASSERT_TRUE(IndexMemory(path, {.recall = 0.5}).ok());
    const std::vector<uint64_t> ids = {3, 4};
    ASSERT_TRUE(DeleteRows(path, ids).ok());
  }
  auto disk = BytesOfFiles(folder / "disk"), in_ram = BytesOfFiles(ram.path());
  for (auto* files : {&disk, &in_ram}) files->erase(kManifestName);  // has the time
  EXPECT_EQ(disk.size(), 3u);
  EXPECT_TRUE(disk == in_ram);
  EXPECT_EQ(ScoresOf(folder / "disk", queries), ScoresOf(ram.path(), queries));
}

TEST(MemoryInRam, IsGoneWithItsFolderButNotForThoseWhoHaveItOpen) {
  const Problem problem = MakeProblem(50, 8, 4, 1);
  std::optional<RamFolder> ram(std::in_place);
  const std::string path = ram->path();
  fixtures::Write(path, fixtures::Describe(problem, {}), problem.view());
  const ResidualMemory memory = fixtures::Open(path);
  ram.reset();
  EXPECT_EQ(ResidualMemory::Open(path).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(memory.rows(), 50);
  EXPECT_TRUE(memory.Verify().ok());
}

TEST(MemoryInRam, FilesOfAnotherProcessAreCheckedWhenTheyAreOpened) {
  const Problem problem = MakeProblem(50, 8, 4, 1);
  const RamFolder first;
  fixtures::Write(first.path(), fixtures::Describe(problem, {}), problem.view());
  std::vector<MemoryFile> files = ReadMemoryFiles(first.path()).value();
  ASSERT_EQ(files.size(), 2u);
  RamFolder same;
  ASSERT_TRUE(same.Fill(files).ok());
  EXPECT_EQ(ScoresOf(same.path(), problem), ScoresOf(first.path(), problem));

  std::vector<std::byte> broken(files[1].bytes.begin(), files[1].bytes.end());
  broken[broken.size() / 2] ^= std::byte{1};
  files[1].bytes = broken;
  RamFolder other;
  ASSERT_TRUE(other.Fill(files).ok());
  EXPECT_EQ(ResidualMemory::Open(other.path()).status().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(CopyMemory(other.path(), same.path(), {.overwrite = true}).code(), ErrorCode::kCorrupt);

  files[1].name = "../../etc/passwd";
  EXPECT_EQ(RamFolder().Fill(files).code(), ErrorCode::kBadData);
}

TEST(CopyMemory, RefusesToReplaceAMemoryUnlessAsked) {
  const TemporaryFolder folder;
  const Problem problem = MakeProblem(50, 8, 4, 1), more = MakeProblem(70, 8, 4, 2);
  const RamFolder ram;
  fixtures::Write(ram.path(), fixtures::Describe(problem, {}), problem.view());
  fixtures::Write(folder / "m", fixtures::Describe(more, {}), more.view());
  EXPECT_EQ(CopyMemory(ram.path(), folder / "m").code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(fixtures::Open(folder / "m").rows(), 70);
  ASSERT_TRUE(CopyMemory(ram.path(), folder / "m", {.overwrite = true}).ok());
  EXPECT_EQ(fixtures::Open(folder / "m").rows(), 50);
  EXPECT_EQ(CopyMemory("ram:none", folder / "n").code(), ErrorCode::kNotFound);
}

TEST(CopyMemory, CancelledLeavesNothing) {
  struct Stop final : Progress {
    bool Cancelled() const override { return true; }
  } stop;
  const TemporaryFolder folder;
  const Problem problem = MakeProblem(50, 8, 4, 1);
  const RamFolder ram;
  fixtures::Write(ram.path(), fixtures::Describe(problem, {}), problem.view());
  EXPECT_EQ(CopyMemory(ram.path(), folder / "m", {.progress = &stop}).code(),
            ErrorCode::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
}

}  // namespace
}  // namespace resmem
