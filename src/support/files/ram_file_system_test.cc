#include "support/files/ram_file_system.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace resmem {
namespace {

std::span<const std::byte> RamBytes(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

class RamFileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = NewRamFolder();
    ASSERT_TRUE(files_.MakeDirectory(folder_).ok());
  }
  void TearDown() override { RemoveRamFolder(folder_); }

  void WriteText(const std::string& name, const std::string& text) {
    auto file = files_.Create(folder_ + "/" + name);
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE((*file)->Write(0, RamBytes(text)).ok());
    ASSERT_TRUE((*file)->Close().ok());
  }
  std::string Read(const std::string& name) {
    const auto mapped = files_.Map(folder_ + "/" + name);
    if (!mapped.ok()) return mapped.status().message();
    return {reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size()};
  }

  FileSystem& files_ = RamFiles();
  std::string folder_;
};

TEST_F(RamFileSystemTest, FilesAreListedRenamedAndRemovedAsOnDisk) {
  WriteText("b", "second");
  WriteText("a", "first");
  EXPECT_EQ(files_.List(folder_).value(), (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(files_.Rename(folder_ + "/a", folder_ + "/b").ok());
  EXPECT_EQ(Read("b"), "first");
  EXPECT_EQ(files_.List(folder_).value(), std::vector<std::string>{"b"});
  EXPECT_EQ(files_.Remove(folder_).code(), ErrorCode::kIo);  // not empty
  ASSERT_TRUE(files_.Remove(folder_ + "/b").ok());
  ASSERT_TRUE(files_.Remove(folder_).ok());
  EXPECT_FALSE(files_.Exists(folder_));
  EXPECT_EQ(files_.Map(folder_ + "/b").status().code(), ErrorCode::kNotFound);
}

TEST_F(RamFileSystemTest, WritesAtAnyOffsetAndStartsAtAPage) {
  auto file = files_.Create(folder_ + "/x");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Write(100000, RamBytes("end")).ok());
  ASSERT_TRUE((*file)->Write(0, RamBytes("start")).ok());
  ASSERT_TRUE((*file)->Close().ok());
  const std::string text = Read("x");
  EXPECT_EQ(text, "start" + std::string(99995, '\0') + "end");
  const auto mapped = files_.Map(folder_ + "/x");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(mapped->bytes().data()) % 4096, 0u);
  mapped->Drop(0, 100003);
  EXPECT_EQ(std::memcmp(mapped->bytes().data(), text.data(), text.size()), 0);
}

TEST_F(RamFileSystemTest, WhatIsMappedStaysAsItWas) {
  WriteText("x", "old");
  const auto mapped = files_.Map(folder_ + "/x");
  auto file = files_.Reopen(folder_ + "/x");
  ASSERT_TRUE((*file)->Write(0, RamBytes("new")).ok());
  EXPECT_EQ(Read("x"), "new");
  RemoveRamFolder(folder_);
  EXPECT_EQ(std::memcmp(mapped->bytes().data(), "old", 3), 0);
  EXPECT_EQ((*file)->Write(0, RamBytes("newer")).code(), ErrorCode::kNotFound);
}

TEST_F(RamFileSystemTest, ALockIsHeldByOne) {
  auto first = files_.Lock(folder_ + "/LOCK");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(files_.Lock(folder_ + "/LOCK").status().code(), ErrorCode::kResourceExhausted);
  first->reset();
  EXPECT_TRUE(files_.Lock(folder_ + "/LOCK").ok());
}

TEST_F(RamFileSystemTest, OnlyReservedFoldersCanBeMadeAndNoneIsGivenTwice) {
  EXPECT_EQ(files_.MakeDirectory("ram:mine").code(), ErrorCode::kNotFound);
  const std::string other = NewRamFolder();
  EXPECT_NE(other, folder_);
  EXPECT_FALSE(files_.Exists(other));
  RemoveRamFolder(other);
  EXPECT_NE(NewRamFolder(), other);
  EXPECT_EQ(&FileSystem::Of(folder_), &files_);
  EXPECT_EQ(&FileSystem::Of("./" + folder_), &FileSystem::Posix());
}

TEST_F(RamFileSystemTest, AForkedChildHasACopy) {
  WriteText("x", "parent");
  const pid_t child = ::fork();
  if (child == 0) {
    const bool same = Read("x") == "parent";
    WriteText("x", "child");
    ::_exit(same && Read("x") == "child" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Read("x"), "parent");
}

}  // namespace
}  // namespace resmem
