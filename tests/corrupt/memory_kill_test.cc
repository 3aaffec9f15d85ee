// SIGKILL at every file-system call of every operation, and at random instants of a busy writer.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "corrupt/memory_operations.h"
#include "support/random.h"

extern char** environ;

namespace resmem {
namespace {

using fixtures::TemporaryFolder;

pid_t Start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), RESMEM_KILL_CHILD);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = -1;
  EXPECT_EQ(::posix_spawn(&child, RESMEM_KILL_CHILD, nullptr, nullptr, pointers.data(), environ),
            0);
  return child;
}

int Wait(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(MemoryKill, AtEveryCallLeavesTheOldOrTheNewState) {
  const TemporaryFolder folder(fixtures::FastParent());
  int64_t kills = 0;
  for (const Operation& operation : EveryOperationOnDisk()) {
    SCOPED_TRACE(operation.name);
    const std::string whole = folder / std::string(operation.name);
    ASSERT_TRUE(operation.prepare(whole).ok());
    const std::string old_state = StoredStateOf(whole);
    ASSERT_TRUE(operation.run(FileSystem::Posix(), whole).ok());
    const std::string new_state = StoredStateOf(whole);
    bool finished = false;
    for (int64_t call = 0; !finished; ++call) {
      SCOPED_TRACE("call " + std::to_string(call));
      const std::string path = whole + "-" + std::to_string(call);
      ASSERT_TRUE(operation.prepare(path).ok());
      const int status = Wait(Start({operation.name, path, std::to_string(call)}));
      finished = WIFEXITED(status);
      if (finished) {
        ASSERT_EQ(WEXITSTATUS(status), 0);
      } else {
        ASSERT_EQ(WTERMSIG(status), SIGKILL);
        ++kills;
      }
      const std::string state = StoredStateOf(path);
      ASSERT_TRUE(state == old_state || state == new_state) << state;
      // What was left does not disturb the next writer.
      if (state == old_state) {
        ASSERT_TRUE(operation.run(FileSystem::Posix(), path).ok());
      }
      ASSERT_EQ(StoredStateOf(path), new_state);
      std::filesystem::remove_all(path);
    }
  }
  EXPECT_GE(kills, 100);
}

TEST(MemoryKill, AtRandomInstantsOfABusyWriterLeavesAWholeState) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  ASSERT_TRUE(CreateRows(FileSystem::Posix(), path, 1).ok());
  const std::string without = StateOf(path);
  ASSERT_TRUE(AppendRows(FileSystem::Posix(), path).ok());
  const std::string with = StateOf(path);
  Random random(5);
  int64_t appended = 0;
  for (int round = 0; round < 60; ++round) {
    // The loop starts with an append, so the rows must not be there.
    if (StateOf(path) == with) {
      ASSERT_TRUE(DeleteAppended(FileSystem::Posix(), path).ok());
    }
    const pid_t child = Start({"loop", path});
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + random.Below(30000)));
    ::kill(child, SIGKILL);
    const int status = Wait(child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer itself failed: " << WEXITSTATUS(status);
    const std::string state = StateOf(path);
    ASSERT_TRUE(state == without || state == with) << "round " << round << ": " << state;
    appended += state == with;
  }
  RecordProperty("rounds_with_the_rows", static_cast<int>(appended));
}

TEST(MemoryKill, ReadersSeeAWholeStateWhileAnotherProcessAppendsDeletesAndCompacts) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  ASSERT_TRUE(CreateRows(FileSystem::Posix(), path, 1).ok());
  const std::string without = StateOf(path);
  ASSERT_TRUE(AppendRows(FileSystem::Posix(), path).ok());
  const std::string with = StateOf(path);
  ASSERT_TRUE(DeleteAppended(FileSystem::Posix(), path).ok());
  const pid_t child = Start({"loop", path});
  int64_t seen_with = 0, seen_without = 0, opens = 0;
  while (opens < 300 || ((seen_with == 0 || seen_without == 0) && opens < 30000)) {
    const std::string state = StateOf(path);
    EXPECT_TRUE(state == without || state == with) << state;
    seen_with += state == with;
    seen_without += state == without;
    ++opens;
  }
  ::kill(child, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(Wait(child)));
  EXPECT_GT(seen_with, 0);
  EXPECT_GT(seen_without, 0);
}

}  // namespace
}  // namespace resmem
