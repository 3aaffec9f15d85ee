#include "resmem/scrub.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "fixtures/every_memory.h"
#include "fixtures/file_bytes.h"

namespace resmem {
namespace {

using fixtures::ReadBytes;
using fixtures::TemporaryFolder;
using fixtures::WriteBytes;

// Above 5 MB, so that sections have several blocks; with deletions and an index.
std::string WriteLarge(const TemporaryFolder& folder) {
  const std::string path = folder / "m";
  MemoryDescription description = Small();
  description.dim = 8;
  description.outputs = 300;
  const RowData data = MakeRows(4000, 8, 300);
  fixtures::Write(path, description, data.view(description));
  EXPECT_TRUE(DeleteRows(path, std::span(data.ids).first(3)).ok());
  EXPECT_TRUE(IndexMemory(path, {.recall = 0.5}).ok());
  return path;
}

int64_t BytesIn(const std::string& path) {
  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    bytes += static_cast<int64_t>(entry.file_size());
  }
  return bytes;
}

TEST(Scrub, ASoundMemoryIsReadWhole) {
  const TemporaryFolder folder;
  const std::string path = WriteLarge(folder);
  const auto report = ScrubMemory(path);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->sound());
  EXPECT_EQ(report->files, 4);  // manifest, segment, deletions, index
  EXPECT_GT(report->blocks, 6);
  // All but headers and lists of checksums, which opening reads.
  EXPECT_GT(report->bytes, BytesIn(path) * 99 / 100 - 8192);
  EXPECT_LE(report->bytes, BytesIn(path) + 64 * 32);
}

TEST(Scrub, EveryBrokenBlockOfEveryFileIsNamedNotOnlyTheFirst) {
  const TemporaryFolder folder;
  const std::string path = WriteLarge(folder);
  int64_t broken = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::string name = entry.path().filename();
    if (name == "MANIFEST") continue;
    std::string bytes = ReadBytes(entry.path());
    const int64_t sections = fixtures::HeaderOf(bytes).section_count;
    // The middle of the first section, and of the largest one the first and the last block.
    std::vector<uint64_t> places = {fixtures::EntryOf(bytes, 0).offset + 3};
    for (int64_t i = 1; i + 1 < sections; ++i) {
      const SectionEntry section = fixtures::EntryOf(bytes, static_cast<size_t>(i));
      if (section.bytes < uint64_t{2} << 20) continue;
      places.push_back(section.offset);
      places.push_back(section.offset + section.bytes - 1);
    }
    for (const uint64_t place : places) bytes[place] = static_cast<char>(bytes[place] ^ 1);
    broken += static_cast<int64_t>(places.size());
    WriteBytes(entry.path(), bytes);
  }
  ASSERT_GE(broken, 5);
  const auto report = ScrubMemory(path);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->broken, broken);
  ASSERT_EQ(static_cast<int64_t>(report->damage.size()), broken);
  for (const std::string& message : report->damage) {
    EXPECT_NE(message.find("checksum of section"), std::string::npos) << message;
  }
}

TEST(Scrub, AShorterFileIsDamageAndAMissingManifestAnError) {
  const TemporaryFolder folder;
  const std::string path = WriteLarge(folder);
  const std::string file = path + "/segment-000001.resmem";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  const auto report = ScrubMemory(path);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->broken, 1);
  std::filesystem::remove(file);
  EXPECT_EQ(ScrubMemory(path).status().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(ScrubMemory(folder / "none").status().code(), ErrorCode::kNotFound);
}

TEST(Scrub, NoMoreIsReadInASecondThanIsAllowed) {
  const TemporaryFolder folder;
  const std::string path = WriteLarge(folder);
  ScrubOptions options;
  options.bytes_per_second = int64_t{10} << 20;
  const auto begin = std::chrono::steady_clock::now();
  const auto report = ScrubMemory(path, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(report.ok());
  // Never sooner; later it may be on any machine.  The last block is not waited for.
  EXPECT_GE(seconds.count(), static_cast<double>(report->bytes - (int64_t{1} << 20)) / 10485760.0);
}

TEST(Scrub, ACallerMayStopIt) {
  class Impatient : public Progress {
   public:
    bool Cancelled() const override { return true; }
  };
  const TemporaryFolder folder;
  const std::string path = WriteLarge(folder);
  Impatient progress;
  EXPECT_EQ(ScrubMemory(path, {.progress = &progress}).status().code(), ErrorCode::kCancelled);
}

}  // namespace
}  // namespace resmem
