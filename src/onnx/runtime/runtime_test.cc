#include "onnx/runtime/runtime.h"

#include <gtest/gtest.h>

#include <cstdlib>

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
