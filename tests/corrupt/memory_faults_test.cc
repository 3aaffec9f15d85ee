// A failure at every write, sync, close, rename, remove, mkdir and lock in turn.
#include <gtest/gtest.h>

#include <filesystem>

#include "corrupt/memory_operations.h"
#include "fixtures/faulty_file_system.h"
#include "memory/manifest/manifest.h"

namespace resmem {
namespace {

using fixtures::FaultyFileSystem;
using fixtures::TemporaryFolder;

// The folder holds what the manifest names and nothing else.
void ExpectNoLeftovers(const std::string& path) {
  const auto manifest = ReadManifest(FileSystem::Posix(), path);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  const bool snapshot = !MemoryOfSnapshot(path).empty();
  EXPECT_EQ(manifest->snapshot.has_value(), snapshot) << path;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (!snapshot && entry.path().filename() == "snapshots") {
      for (const auto& inner : std::filesystem::directory_iterator(entry.path())) {
        ExpectNoLeftovers(inner.path().string());
      }
      continue;
    }
    EXPECT_TRUE(manifest->names().contains(entry.path().filename().string())) << entry.path();
  }
}

constexpr char kNoMemory[] = "no memory\nstored: 0";

class MemoryFaults : public testing::TestWithParam<FaultyFileSystem::Fault> {};

TEST_P(MemoryFaults, EveryFailureLeavesTheOldOrTheNewState) {
  const TemporaryFolder folder(fixtures::FastParent());
  for (const Operation& operation : EveryOperationOnDisk()) {
    SCOPED_TRACE(operation.name);
    const std::string whole = folder / std::string(operation.name);
    ASSERT_TRUE(operation.prepare(whole).ok());
    const std::string old_state = StoredStateOf(whole);
    FaultyFileSystem sound(FaultyFileSystem::Fault::kFailOnce, -1);
    ASSERT_TRUE(operation.run(sound, whole).ok());
    const std::string new_state = StoredStateOf(whole);
    ASSERT_NE(old_state, new_state);
    ASSERT_GT(sound.calls(), 5);

    for (int64_t call = 0; call < sound.calls(); ++call) {
      SCOPED_TRACE("call " + std::to_string(call));
      const std::string path = whole + "-" + std::to_string(call);
      ASSERT_TRUE(operation.prepare(path).ok());
      FaultyFileSystem faulty(GetParam(), call);
      const Status status = operation.run(faulty, path);
      const std::string state = StoredStateOf(path);
      if (status.ok()) {
        EXPECT_EQ(state, new_state);  // only what is removed afterwards may fail quietly
      } else {
        EXPECT_EQ(status.code(), ErrorCode::kIo);
        EXPECT_TRUE(state == old_state || state == new_state) << state;
      }
      // One failure can be cleaned up behind; and whatever happened, the next change works.
      const bool cleaned = GetParam() == FaultyFileSystem::Fault::kFailOnce && !status.ok();
      if (cleaned && state == old_state && old_state != kNoMemory) ExpectNoLeftovers(path);
      if (cleaned && state == kNoMemory) {
        EXPECT_FALSE(std::filesystem::exists(path));
      }
      if (state == old_state) {
        ASSERT_TRUE(operation.run(FileSystem::Posix(), path).ok());
      }
      EXPECT_EQ(StoredStateOf(path), new_state);
      ASSERT_TRUE(UpdateDescription(path, ResidualMemory::Open(path)->description()).ok());
      EXPECT_EQ(StoredStateOf(path), new_state);
      ExpectNoLeftovers(path);
      std::filesystem::remove_all(path);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, MemoryFaults,
                         testing::Values(FaultyFileSystem::Fault::kFailOnce,
                                         FaultyFileSystem::Fault::kFailOnward));

TEST(MemoryFolder, HoldsOnlyNamedFilesAfterEveryOperation) {
  const TemporaryFolder folder(fixtures::FastParent());
  for (const Operation& operation : EveryOperationOnDisk()) {
    const std::string path = folder / std::string(operation.name);
    ASSERT_TRUE(operation.prepare(path).ok());
    ASSERT_TRUE(operation.run(FileSystem::Posix(), path).ok());
    ExpectNoLeftovers(path);
  }
}

}  // namespace
}  // namespace resmem
