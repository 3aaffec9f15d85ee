#include "data/formats/format_table.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "data/test_files.h"
#include "resmem/data/array.h"

namespace resmem {
namespace {

using FormatTableTest = DataTest;

TEST_F(FormatTableTest, EveryFormatIsInTheHelpAndOnThePageOfArrays) {
  std::ifstream file(RESMEM_SOURCE_DIR "/docs/arrays.md");
  std::ostringstream page;
  page << file.rdbuf();
  for (const ArrayFormat& format : ArrayFormats()) {
    EXPECT_NE(ArrayFormatsHelp().find(format.help), std::string::npos) << format.name;
    EXPECT_NE(page.str().find("`" + std::string(format.extension) + "`"), std::string::npos)
        << "docs/arrays.md does not name " << format.extension;
  }
}

TEST_F(FormatTableTest, AMarkDecidesBeforeTheName) {
  const std::string npy = NpyText("|u1", {1}, "x"), idx = IdxText(0x08, {2}, "ab");
  EXPECT_EQ(FindArrayFormat(".csv", std::as_bytes(std::span(npy)))->name, "npy");
  EXPECT_EQ(FindArrayFormat("", std::as_bytes(std::span(idx)))->name, "IDX");
  EXPECT_EQ(FindArrayFormat(".xyz", std::as_bytes(std::span("hello", 5))), nullptr);
}

TEST_F(FormatTableTest, IdxsFewBytesCountUnderAnotherNameOnlyWhereTheWholeFileFits) {
  const std::string whole = IdxText(0x08, {2}, "ab"), longer = whole + "c";
  EXPECT_EQ(FindArrayFormat(".fvecs", std::as_bytes(std::span(whole)))->name, "IDX");
  EXPECT_EQ(FindArrayFormat(".fvecs", std::as_bytes(std::span(longer)))->name, "fvecs");
  EXPECT_EQ(FindArrayFormat(".data", std::as_bytes(std::span(longer)))->name, "IDX");
}

TEST_F(FormatTableTest, AFolderIsSearchedForCompressedFilesOfAFormatThatIsReadCompressed) {
  const std::vector<std::string> extensions = FolderExtensions();
  const auto has = [&](const char* extension) {
    return std::count(extensions.begin(), extensions.end(), extension) == 1;
  };
  EXPECT_TRUE(has(".npy") && has(".idx") && has(".idx.gz"));
  EXPECT_FALSE(has(".npy.gz") || has(".bin"));
}

TEST_F(FormatTableTest, WhatIsNotReadCompressedSaysSo) {
  const Status status = OpenError(Write("a.csv.gz", GzipText("a,b\n1,2\n")));
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("IDX, CIFAR"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace resmem
