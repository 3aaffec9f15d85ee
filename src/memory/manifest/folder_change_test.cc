// Folders that are not as a writer left them.
#include <gtest/gtest.h>

#include <filesystem>

#include "fixtures/every_memory.h"
#include "fixtures/file_bytes.h"
#include "memory/manifest/manifest.h"
#include "resmem/residual_memory.h"
#include "support/file_system.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::ReadBytes;
using fixtures::TemporaryFolder;
using fixtures::Write;
using fixtures::WriteBytes;

Status WriteNew(const std::string& path, bool overwrite) {
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer, MemoryWriter::Create(path, Small(), 2, {overwrite}));
  RESMEM_RETURN_IF_ERROR(writer.Add(MakeRows(2, 3, 4).view(Small())));
  return writer.Finish();
}

Status AppendOne(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer, MemoryWriter::Append(path, 1));
  RowData data = MakeRows(1, 3, 4);
  data.ids = {1000};
  RESMEM_RETURN_IF_ERROR(writer.Add(data.view(Small())));
  return writer.Finish();
}

std::vector<std::string> FilesOf(const std::string& path) {
  return FileSystem::Posix().List(path).value();
}

TEST(FolderChange, AMemoryWithoutItsManifestIsKeptUnlessOverwritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  Write(path, Small(), MakeRows(5, 3, 4).view(Small()));
  std::filesystem::rename(path + "/MANIFEST", folder / "aside");
  const std::vector<std::string> before = FilesOf(path);
  const Status status = WriteNew(path, false);
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.message().find("MANIFEST is missing"), std::string::npos) << status.message();
  EXPECT_EQ(FilesOf(path), before);
  // Asked to overwrite, but not finished: still all there.
  { ASSERT_TRUE(MemoryWriter::Create(path, Small(), 2, {true}).ok()); }
  EXPECT_EQ(FilesOf(path), before);
  std::filesystem::copy(folder / "aside", path + "/MANIFEST");
  EXPECT_EQ(Open(path).rows(), 5);

  std::filesystem::remove(path + "/MANIFEST");
  ASSERT_TRUE(WriteNew(path, true).ok());
  EXPECT_EQ(Open(path).rows(), 2);
  EXPECT_EQ(FilesOf(path).size(), 2u);
}

TEST(FolderChange, WhatAKilledWriterLeftIncompleteDoesNotHinderANewMemory) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  std::filesystem::create_directory(path);
  WriteBytes(path + "/segment-000001.resmem.tmp", "half");
  WriteBytes(path + "/LOCK", "");
  ASSERT_TRUE(WriteNew(path, false).ok());
  EXPECT_EQ(Open(path).rows(), 2);
  EXPECT_EQ(FilesOf(path).size(), 2u);
}

TEST(FolderChange, AMemoryWithABrokenManifestCanBeOverwritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  Write(path, Small(), MakeRows(5, 3, 4).view(Small()));
  for (const char* broken : {"", "R", "RESMEM\r\nand nothing", "not ours at all"}) {
    SCOPED_TRACE(broken);
    WriteBytes(path + "/MANIFEST", broken);
    const std::vector<std::string> before = FilesOf(path);
    EXPECT_EQ(WriteNew(path, false).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(FilesOf(path), before);
    const Status status = WriteNew(path, true);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(Open(path).rows(), 2);
    EXPECT_EQ(FilesOf(path).size(), 2u);
  }
}

TEST(FolderChange, AStrayFileWithTheLargestNumberDoesNotSpoilTheNextName) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  Write(path, Small(), MakeRows(5, 3, 4).view(Small()));
  WriteBytes(path + "/segment-999999999999999.resmem", "stray");
  const Status status = AppendOne(path);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(Open(path).rows(), 6);
  EXPECT_EQ(FilesOf(path).size(), 3u);
}

TEST(FolderChange, AfterTheLastGenerationNothingIsWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  Write(path, Small(), MakeRows(5, 3, 4).view(Small()));
  auto manifest = ReadManifest(FileSystem::Posix(), path);
  ASSERT_TRUE(manifest.ok());
  manifest->generation = 999'999'999'999'998;
  bool replaced = false;
  ASSERT_TRUE(WriteManifest(FileSystem::Posix(), path, *manifest, &replaced).ok());
  ASSERT_TRUE(AppendOne(path).ok());
  EXPECT_EQ(Open(path).rows(), 6);
  const std::string last = ReadBytes(path + "/MANIFEST");
  const Status status = UpdateDescription(path, Small());
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.message().find("generation 999999999999999"), std::string::npos)
      << status.message();
  EXPECT_EQ(ReadBytes(path + "/MANIFEST"), last);
  EXPECT_EQ(Open(path).rows(), 6);
}

}  // namespace
}  // namespace resmem
