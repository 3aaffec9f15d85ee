#include "support/file_system.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>

namespace resmem {
namespace {

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

class FileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "resmem_fs_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(files_.MakeDirectory(folder_).ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  FileSystem& files_ = FileSystem::Posix();
  std::string folder_;
};

TEST_F(FileSystemTest, AtomicWriteReplacesAndLeavesNoTemporary) {
  const std::string path = folder_ + "/x";
  ASSERT_TRUE(WriteFileAtomically(files_, path, Bytes("old")).ok());
  ASSERT_TRUE(WriteFileAtomically(files_, path, Bytes("newer")).ok());
  auto mapped = files_.Map(path);
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ(std::memcmp(mapped->bytes().data(), "newer", 5), 0);
  EXPECT_EQ(files_.List(folder_).value(), std::vector<std::string>{"x"});
}

TEST_F(FileSystemTest, MissingFileIsNotFoundAndAFolderIsNotMapped) {
  EXPECT_EQ(files_.Map(folder_ + "/none").status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(files_.Map(folder_).status().code(), ErrorCode::kIo);
}

TEST_F(FileSystemTest, SecondLockIsRefusedUntilTheFirstIsGone) {
  auto first = files_.Lock(folder_ + "/LOCK");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(files_.Lock(folder_ + "/LOCK").status().code(), ErrorCode::kResourceExhausted);
  first->reset();
  EXPECT_TRUE(files_.Lock(folder_ + "/LOCK").ok());
}

TEST_F(FileSystemTest, DroppedPagesReadTheSameAgain) {
  const std::string path = folder_ + "/big";
  const std::string content(100000, 'q');
  ASSERT_TRUE(WriteFileAtomically(files_, path, Bytes(content)).ok());
  auto mapped = files_.Map(path);
  ASSERT_TRUE(mapped.ok());
  mapped->Drop(0, content.size());
  EXPECT_EQ(std::memcmp(mapped->bytes().data(), content.data(), content.size()), 0);
}

TEST_F(FileSystemTest, FullDeviceIsOutOfResources) {
  auto file = files_.Create("/dev/full");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->Write(0, Bytes("x")).code(), ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace resmem
