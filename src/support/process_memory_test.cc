#include "support/process_memory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace resmem {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// A folder that stands for "/".
class ControlGroups : public testing::Test {
 protected:
  ControlGroups() {
    std::string folder = testing::TempDir() + "/groups.XXXXXX";
    root_ = mkdtemp(folder.data());
  }
  ~ControlGroups() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = root_ + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  std::string root_;
};

TEST_F(ControlGroups, NoGroupsAreNoLimit) {
  EXPECT_EQ(MemoryOfControlGroups(root_), kNoLimit);
}

TEST_F(ControlGroups, TheLeastLimitOfAGroupAndThoseAroundItCounts) {
  Write("/proc/self/cgroup", "0::/outer/inner\n");
  Write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  EXPECT_EQ(MemoryOfControlGroups(root_), kNoLimit);
  Write("/sys/fs/cgroup/outer/memory.max", "3000000\n");
  EXPECT_EQ(MemoryOfControlGroups(root_), 3000000);
  Write("/sys/fs/cgroup/outer/inner/memory.max", "2000000\n");
  EXPECT_EQ(MemoryOfControlGroups(root_), 2000000);
  Write("/sys/fs/cgroup/memory.max", "1000000\n");
  EXPECT_EQ(MemoryOfControlGroups(root_), 1000000);
}

TEST_F(ControlGroups, AContainerWhosePathIsNotThereHasTheLimitOfItsRoot) {
  Write("/proc/self/cgroup", "0::/somewhere/on/the/host\n");
  Write("/sys/fs/cgroup/memory.max", "5000000\n");
  EXPECT_EQ(MemoryOfControlGroups(root_), 5000000);
}

TEST_F(ControlGroups, TheFirstVersionIsReadToo) {
  Write("/proc/self/cgroup", "12:cpu,cpuacct:/a\n9:memory:/b\n0::/\n");
  Write("/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "4000000\n");
  Write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1\n");  // of another group
  EXPECT_EQ(MemoryOfControlGroups(root_), 4000000);
}

TEST_F(ControlGroups, LinesOfAnotherFormAreNoLimit) {
  Write("/proc/self/cgroup", "\n:\n::\nmemory\n0:memory:relative\n0::\n");
  Write("/sys/fs/cgroup/memory.max", "-7\n");
  EXPECT_EQ(MemoryOfControlGroups(root_), kNoLimit);
}

TEST(ProcessMemory, IsSomeAndAtMostWhatTheGroupsAllow) {
  EXPECT_GT(ProcessMemory(), int64_t{1} << 20);
  EXPECT_LE(ProcessMemory(), MemoryOfControlGroups(""));
}

}  // namespace
}  // namespace resmem
