#include "onnx/runtime/runtime.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "onnx/runtime/runtime_places.h"

namespace resmem {
namespace {

class RuntimeVariable {
 public:
  explicit RuntimeVariable(const std::string& value) {
    if (const char* before = std::getenv(kRuntimeVariable)) before_ = before;
    ::setenv(kRuntimeVariable, value.c_str(), 1);
  }
  ~RuntimeVariable() {
    before_.empty() ? ::unsetenv(kRuntimeVariable) : ::setenv(kRuntimeVariable, before_.c_str(), 1);
  }

 private:
  std::string before_;
};

TEST(Runtime, WhatTheUserNamesIsTheOnlyPlaceTried) {
  const fixtures::TemporaryFolder folder;
  fixtures::WriteBytes(folder / "mine.so", "");
  EXPECT_EQ(*FindRuntime(folder / "mine.so"), folder / "mine.so");
  const RuntimeVariable variable(folder / "missing.so");
  EXPECT_EQ(*FindRuntime(folder / "mine.so"), folder / "mine.so");
  const Status status = FindRuntime("").status();
  EXPECT_EQ(status.code(), ErrorCode::kNotFound);
  EXPECT_NE(status.message().find("missing.so"), std::string::npos);
  EXPECT_NE(status.message().find("./setup"), std::string::npos);
}

TEST(Runtime, TheVariableComesBeforeTheUsualPlaces) {
  const fixtures::TemporaryFolder folder;
  fixtures::WriteBytes(folder / "mine.so", "");
  const RuntimeVariable variable(folder / "mine.so");
  EXPECT_EQ(*FindRuntime(""), folder / "mine.so");
}

TEST(Runtime, ThePlacesIncludeTheCacheThatSetupFills) {
  bool found = false;
  for (const std::string& place : RuntimeFolders()) {
    EXPECT_EQ(place.front(), '/') << place;  // never the current folder
    found |= place.find("/resmem/onnxruntime-1.30.0") != std::string::npos;
  }
  EXPECT_TRUE(found);
}

// A home of the test's own, with a library in the cache.
class CacheOfTest {
 public:
  CacheOfTest() : library_(folder_ / ("resmem/onnxruntime-1.30.0/libonnxruntime.so.1")) {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    ::setenv("XDG_CACHE_HOME", (folder_ / "").c_str(), 1);
    const RuntimeVariable none("");
    std::filesystem::create_directories(std::filesystem::path(library_).parent_path());
    fixtures::WriteBytes(library_, "code of somebody");
  }
  ~CacheOfTest() {
    before_.empty() ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }
  const std::string& library() const { return library_; }

 private:
  const fixtures::TemporaryFolder folder_;
  std::string library_, before_;
};

TEST(Runtime, WhatLiesInTheCacheMustBeWhatSetupFetches) {
  const CacheOfTest cache;
  const RuntimeVariable none("");
  const auto found = FindRuntime("");
  if (found.ok()) GTEST_SKIP() << "there is one beside this program: " << *found;
  EXPECT_EQ(found.status().code(), ErrorCode::kCorrupt) << found.status().message();
}

TEST(Runtime, NoCodeIsLoadedThatOthersMayWrite) {
  const CacheOfTest cache;
  const RuntimeVariable none("");
  for (const std::filesystem::path& open : {std::filesystem::path(cache.library()),
                                            std::filesystem::path(cache.library()).parent_path()}) {
    const auto before = std::filesystem::status(open).permissions();
    std::filesystem::permissions(open, before | std::filesystem::perms::others_write);
    const auto found = FindRuntime("");
    if (found.ok()) GTEST_SKIP() << "there is one beside this program: " << *found;
    EXPECT_EQ(found.status().code(), ErrorCode::kUnsupported);
    EXPECT_NE(found.status().message().find("others may write it"), std::string::npos)
        << found.status().message();
    std::filesystem::permissions(open, before);
  }
}

TEST(Runtime, AFileThatIsNoLibraryIsRefused) {
  const fixtures::TemporaryFolder folder;
  fixtures::WriteBytes(folder / "libonnxruntime.so.1", "not a library");
  const Status status = Runtime::Load(folder / "libonnxruntime.so.1").status();
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("cannot be loaded"), std::string::npos) << status.message();
}

TEST(Runtime, AnotherLibraryIsRefused) {
  const Status status = Runtime::Load(RESMEM_OTHER_LIBRARY).status();
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("not ONNX Runtime"), std::string::npos) << status.message();
}

TEST(Runtime, AnOldOneIsRefusedWithItsVersion) {
  const Status status = Runtime::Load(RESMEM_OLD_RUNTIME).status();
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("ONNX Runtime 1.2.3, which is too old"), std::string::npos)
      << status.message();
}

TEST(Runtime, ATableOfOtherFunctionsIsFoundOut) {
  const Status status = Runtime::Load(RESMEM_STRANGE_RUNTIME).status();
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("table of functions"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace resmem
