// Every change of a memory, in RAM and on disk side by side.
#include <gtest/gtest.h>

#include <filesystem>

#include "corrupt/memory_operations.h"

namespace resmem {
namespace {

using fixtures::TemporaryFolder;

TEST(MemoryInRam, EveryOperationGivesTheSameStateAsOnDisk) {
  const TemporaryFolder folder(fixtures::FastParent());
  for (const Operation& operation : EveryOperation()) {
    SCOPED_TRACE(operation.name);
    if (operation.name == kFormerKeys) continue;  // a copy has none
    const std::string path = folder / std::string(operation.name);
    ASSERT_TRUE(operation.prepare(path).ok());
    const RamFolder ram;
    if (std::filesystem::exists(path)) {
      ASSERT_TRUE(CopyMemory(path, ram.path()).ok());
      EXPECT_EQ(StoredStateOf(ram.path()), StoredStateOf(path));
    }
    ASSERT_TRUE(operation.run(FileSystem::Posix(), path).ok());
    const Status status = operation.run(FileSystem::Of(ram.path()), ram.path());
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(StoredStateOf(ram.path()), StoredStateOf(path));
  }
}

}  // namespace
}  // namespace resmem
