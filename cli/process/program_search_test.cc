#include "process/program_search.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace resmem::cli {
namespace {

namespace fs = std::filesystem;

class ProgramSearchTest : public ::testing::Test {
 protected:
  ProgramSearchTest() {
    fs::remove_all(root_);
    for (const std::string& folder : {bin_, other_}) {
      fs::create_directories(folder);
      std::ofstream(folder + "/tool") << "#!/bin/sh\n";
    }
    for (const std::string& path : {root_, bin_, other_, bin_ + "/tool", other_ + "/tool"}) {
      Mode(path, 0755);
    }
    SetPath(bin_ + ":" + other_);
  }
  ~ProgramSearchTest() override {
    SetPath(former_);
    fs::remove_all(root_);
  }
  static void Mode(const std::string& path, mode_t bits) {
    ASSERT_EQ(::chmod(path.c_str(), bits), 0);
  }
  static void SetPath(const std::string& path) { ::setenv("PATH", path.c_str(), 1); }

  const std::string root_ = fs::temp_directory_path() / ("resmem_path_" + std::to_string(getpid()));
  const std::string bin_ = root_ + "/bin", other_ = root_ + "/other";
  const std::string former_ = std::getenv("PATH");
};

TEST_F(ProgramSearchTest, AClosedFolderIsTrusted) {
  EXPECT_EQ(FindProgram("tool").value(), bin_ + "/tool");
  EXPECT_EQ(TrustedPath(bin_ + ":" + other_), bin_ + ":" + other_);
}

TEST_F(ProgramSearchTest, AFolderThatOthersMayWriteIsPassedOver) {
  Mode(bin_, 01777);  // in which others may put a program that is not there yet
  EXPECT_EQ(FindProgram("tool").value(), other_ + "/tool");
  EXPECT_EQ(TrustedPath(bin_ + ":" + other_), other_);
  Mode(other_, 0775);
  const auto found = FindProgram("tool");
  EXPECT_EQ(found.status().code(), ErrorCode::kUnsupported);
  EXPECT_NE(found.status().message().find("others may write " + bin_), std::string::npos);
}

TEST_F(ProgramSearchTest, AFileThatOthersMayWriteIsPassedOver) {
  Mode(bin_ + "/tool", 0757);
  EXPECT_EQ(FindProgram("tool").value(), other_ + "/tool");
}

TEST_F(ProgramSearchTest, ALinkIsAsGoodAsWhatItLeadsTo) {
  fs::remove(bin_ + "/tool");
  fs::create_symlink(other_ + "/tool", bin_ + "/tool");
  SetPath(bin_);
  EXPECT_EQ(FindProgram("tool").value(), bin_ + "/tool");
  Mode(other_, 0777);
  EXPECT_EQ(FindProgram("tool").status().code(), ErrorCode::kUnsupported);
}

TEST_F(ProgramSearchTest, AFolderBelowAnOpenOneIsNotTrusted) {
  Mode(root_, 0777);
  EXPECT_EQ(FindProgram("tool").status().code(), ErrorCode::kUnsupported);
  Mode(root_, 01777);  // as /tmp, where nobody can rename what is another's
  EXPECT_TRUE(FindProgram("tool").ok());
}

TEST_F(ProgramSearchTest, RelativeAndEmptyPlacesAreNotTrusted) {
  const fs::path former = fs::current_path();
  fs::current_path(root_);
  SetPath(":bin:.");
  EXPECT_EQ(FindProgram("tool").status().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(TrustedPath(":bin:."), "");
  fs::current_path(former);
}

TEST_F(ProgramSearchTest, WhatIsNowhereIsNotFound) {
  EXPECT_EQ(FindProgram("no-such-tool").status().code(), ErrorCode::kNotFound);
}

TEST_F(ProgramSearchTest, TheProgramGetsTheTrustedPathOnly) {
  Mode(bin_, 0777);
  const std::vector<std::string> variables = TrustedEnvironment();
  EXPECT_EQ(std::count(variables.begin(), variables.end(), "PATH=" + other_), 1);
  for (const std::string& variable : variables) EXPECT_EQ(variable.find(bin_), std::string::npos);
}

}  // namespace
}  // namespace resmem::cli
