#include "onnx/runtime/runtime.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "onnx/runtime/runtime_places.h"
#include "onnx/test_graphs.h"

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
  EXPECT_EQ(FindRuntime(folder / "mine.so")->path, folder / "mine.so");
  const RuntimeVariable variable(folder / "missing.so");
  EXPECT_EQ(FindRuntime(folder / "mine.so")->path, folder / "mine.so");
  const Status status = FindRuntime("").status();
  EXPECT_EQ(status.code(), ErrorCode::kNotFound);
  EXPECT_NE(status.message().find("missing.so"), std::string::npos);
  EXPECT_NE(status.message().find("resmem runtime install"), std::string::npos);
}

TEST(Runtime, TheVariableComesBeforeTheUsualPlaces) {
  const fixtures::TemporaryFolder folder;
  fixtures::WriteBytes(folder / "mine.so", "");
  const RuntimeVariable variable(folder / "mine.so");
  EXPECT_EQ(FindRuntime("")->path, folder / "mine.so");
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
    std::filesystem::copy_file(RESMEM_OLD_RUNTIME, library_);
  }
  ~CacheOfTest() {
    before_.empty() ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }
  const std::string& library() const { return library_; }

 private:
  const fixtures::TemporaryFolder folder_;
  std::string library_, before_;
};

// Loading the usual library, which must fail before a word of it runs.
Status RefusedUnloaded() {
  const RuntimeVariable none("");
  ::unsetenv("RESMEM_FAKE_WAS_LOADED");
  const Status status = Runtime::Load("").status();
  EXPECT_EQ(std::getenv("RESMEM_FAKE_WAS_LOADED"), nullptr);
  return status;
}

bool LiesBesideTheProgram() {
  const RuntimeVariable none("");
  return !FindRuntime("").value().pinned;
}

TEST(Runtime, WhatLiesInTheCacheMustBeWhatSetupFetches) {
  const CacheOfTest cache;
  if (LiesBesideTheProgram()) GTEST_SKIP() << "there is one beside this program";
  const Status status = RefusedUnloaded();
  EXPECT_EQ(status.code(), ErrorCode::kCorrupt) << status.message();
  EXPECT_NE(status.message().find("SHA-256"), std::string::npos) << status.message();
  // The same file, named by the user, is loaded and judged.
  EXPECT_EQ(Runtime::Load(cache.library()).status().code(), ErrorCode::kUnsupported);
  EXPECT_NE(std::getenv("RESMEM_FAKE_WAS_LOADED"), nullptr);
}

TEST(Runtime, NoCodeIsLoadedThatOthersMayWrite) {
  const CacheOfTest cache;
  if (LiesBesideTheProgram()) GTEST_SKIP() << "there is one beside this program";
  const std::filesystem::path file = cache.library();
  for (const std::filesystem::path& open : {file, file.parent_path()}) {
    for (const auto whom :
         {std::filesystem::perms::others_write, std::filesystem::perms::group_write}) {
      const auto before = std::filesystem::status(open).permissions();
      std::filesystem::permissions(open, before | whom);
      const Status status = RefusedUnloaded();
      EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
      EXPECT_NE(status.message().find("others may write it"), std::string::npos)
          << status.message();
      std::filesystem::permissions(open, before);
    }
  }
}

TEST(Runtime, NoCodeIsLoadedThatBelongsToAnother) {
  if (::geteuid() != 0) return;  // only root can give a file away
  const CacheOfTest cache;
  if (LiesBesideTheProgram()) GTEST_SKIP() << "there is one beside this program";
  const std::filesystem::path file = cache.library();
  for (const std::filesystem::path& given : {file, file.parent_path()}) {
    ASSERT_EQ(::chown(given.c_str(), 12345, 12345), 0);
    const Status status = RefusedUnloaded();
    EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
    EXPECT_NE(status.message().find("belongs to another user"), std::string::npos)
        << status.message();
    ASSERT_EQ(::chown(given.c_str(), 0, 0), 0);
  }
}

// A library that is known by its path only, as one beside the program.
TEST(Runtime, NoFolderAboveMayBeWrittenByOthersNorOneThatALinkLeadsTo) {
  const fixtures::TemporaryFolder folder;
  const std::filesystem::path deep = folder / "a/b/c", links = folder / "links";
  std::filesystem::create_directories(deep);
  std::filesystem::create_directories(links);
  fixtures::WriteBytes((deep / "lib.so").string(), "x");
  std::filesystem::create_symlink(deep / "lib.so", links / "lib.so");
  const auto opened = [](const std::filesystem::path& path) {
    return CheckedRuntime::Open({path.string(), false, false}).status();
  };
  EXPECT_TRUE(opened(deep / "lib.so").ok()) << opened(deep / "lib.so").message();
  EXPECT_TRUE(opened(links / "lib.so").ok()) << opened(links / "lib.so").message();
  const std::filesystem::path open = folder / "a";
  std::filesystem::permissions(open, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  for (const auto& path : {deep / "lib.so", links / "lib.so"}) {
    EXPECT_EQ(opened(path).code(), ErrorCode::kUnsupported) << path;
    EXPECT_NE(opened(path).message().find(open.string() + ": others may write it"),
              std::string::npos)
        << opened(path).message();
  }
  // As in /tmp: the sticky bit keeps others from renaming what is ours.
  std::filesystem::permissions(open, std::filesystem::perms::sticky_bit,
                               std::filesystem::perm_options::add);
  EXPECT_TRUE(opened(deep / "lib.so").ok());
}

TEST(Runtime, AFileThatTakesTheCheckedOnesPlaceIsNotLoaded) {
  RESMEM_NEED_RUNTIME();
  const FoundRuntime here = FindRuntime("").value();
  if (!here.pinned) GTEST_SKIP() << "the pinned library is not in the cache";
  const std::string& library = here.path;
  const CacheOfTest cache;
  std::filesystem::copy_file(library, cache.library(),
                             std::filesystem::copy_options::overwrite_existing);
  const auto checked = CheckedRuntime::Open({cache.library(), false, true});
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  std::filesystem::copy_file(RESMEM_OLD_RUNTIME, cache.library() + ".new");
  std::filesystem::rename(cache.library() + ".new", cache.library());
  EXPECT_EQ(std::filesystem::file_size(checked->name()), std::filesystem::file_size(library));
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
