#include "support/file_system.h"
#include "support/output_lock.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "resmem_program/output_file.h"
#include "resmem_program/system_error.h"

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
  EXPECT_EQ(WriteFileAtomically(files_, "/dev/full", Bytes("x")).code(),
            ErrorCode::kResourceExhausted);
}

TEST_F(FileSystemTest, SecondWriterOfOneFileIsRefusedAndTheFirstOneStaysWhole) {
  const std::string path = folder_ + "/x";
  const Status first = WriteFileAtomically(files_, path, [&](WritableFile& file) -> Status {
    RESMEM_RETURN_IF_ERROR(file.Write(0, Bytes("fir")));
    const Status second = WriteFileAtomically(files_, path, Bytes("SECOND"));
    EXPECT_EQ(second.code(), ErrorCode::kResourceExhausted);
    EXPECT_EQ(second.message(),
              path + ": another process is writing it; try again when it has finished");
    return file.Write(3, Bytes("st"));
  });
  ASSERT_TRUE(first.ok()) << first.message();
  const auto mapped = files_.Map(path);
  ASSERT_TRUE(mapped.ok() && mapped->bytes().size() == 5);
  EXPECT_EQ(std::memcmp(mapped->bytes().data(), "first", 5), 0);
}

TEST_F(FileSystemTest, WhatAKilledWriterLeftIsReplacedAndNeverFollowed) {
  const std::string path = folder_ + "/x", elsewhere = folder_ + "/elsewhere";
  ASSERT_TRUE(WriteFileAtomically(files_, elsewhere, Bytes("precious")).ok());
  std::filesystem::create_symlink(elsewhere, TemporaryName(path));
  ASSERT_TRUE(WriteFileAtomically(files_, path, Bytes("new")).ok());
  EXPECT_EQ(std::filesystem::file_size(elsewhere), 8u);
  std::filesystem::copy_file(elsewhere, TemporaryName(path));  // longer than what comes
  ASSERT_TRUE(WriteFileAtomically(files_, path, Bytes("newer")).ok());
  EXPECT_EQ(std::filesystem::file_size(path), 5u);
  EXPECT_EQ(files_.List(folder_).value(), (std::vector<std::string>{"elsewhere", "x"}));
}

TEST_F(FileSystemTest, ReplacedFilesKeepTheirMode) {
  const std::string path = folder_ + "/x";
  ASSERT_TRUE(WriteFileAtomically(files_, path, Bytes("old")).ok());
  const auto mode = [&] { return std::filesystem::status(path).permissions(); };
  for (const int bits : {0600, 0640, 0666}) {
    std::filesystem::permissions(path, std::filesystem::perms(bits));
    ASSERT_TRUE(WriteFileAtomically(files_, path, Bytes("new")).ok());
    EXPECT_EQ(mode(), std::filesystem::perms(bits));
  }
}

TEST_F(FileSystemTest, ALockIsOpenToThoseWhoMayChangeItsFolder) {
  using std::filesystem::perms;
  const std::string path = folder_ + "/LOCK";
  constexpr std::pair<int, int> kModes[] = {
      {0700, 0600}, {0750, 0640}, {0770, 0660}, {0755, 0644}, {01777, 0664}};
  for (const auto& [folder, lock] : kModes) {
    std::filesystem::permissions(folder_, perms(folder));
    const auto held = files_.Lock(path);
    ASSERT_TRUE(held.ok());
    EXPECT_EQ(std::filesystem::status(path).permissions(), perms(lock));
  }
}

TEST_F(FileSystemTest, OutputIsThereWhenClosedAndNotBefore) {
  const std::string path = folder_ + "/x";
  {
    auto output = OutputFile::Create(path);
    ASSERT_TRUE(output.ok());
    EXPECT_TRUE(output->Write("half").ok());
    EXPECT_EQ(OutputFile::Create(path).status().code(), ErrorCode::kResourceExhausted);
  }
  EXPECT_TRUE(files_.List(folder_)->empty());
  auto output = OutputFile::Create(path);
  ASSERT_TRUE(output.ok() && output->Write("whole").ok() && output->Write("!").ok());
  EXPECT_FALSE(files_.Exists(path));
  EXPECT_TRUE(output->Close().ok());
  EXPECT_EQ(std::filesystem::file_size(path), 6u);
  EXPECT_EQ(files_.List(folder_).value(), std::vector<std::string>{"x"});
}

TEST(CodeOfSystemError, WhatIsUsedUpIsOutOfResources) {
  for (const int error : {ENOSPC, EDQUOT, EFBIG, ENOMEM, EMFILE, ENFILE, EAGAIN}) {
    EXPECT_EQ(CodeOfSystemError(error), ErrorCode::kResourceExhausted) << error;
  }
  for (const int error : {EACCES, EIO, EPERM, ENOENT}) {
    EXPECT_EQ(CodeOfSystemError(error), ErrorCode::kIo) << error;
  }
}

TEST_F(FileSystemTest, SecondWriterOfALockedOutputIsRefused) {
  auto first = LockOutput(files_, folder_ + "/run", "training here");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(LockOutput(files_, folder_ + "/run", "training here").status().code(),
            ErrorCode::kResourceExhausted);
  first->reset();
  EXPECT_TRUE(LockOutput(files_, folder_ + "/run", "training here").ok());
}

}  // namespace
}  // namespace resmem
