#include "support/guard.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

namespace resmem {
namespace {

template <typename Work>
Status Guarded(Work work) {
  try {
    work();
    return {};
  } catch (...) {
    return CaughtException("count");
  }
}

TEST(CaughtException, WantOfMemoryIsNoBug) {
  EXPECT_EQ(Guarded([] { throw std::bad_alloc(); }).code(), ErrorCode::kResourceExhausted);
  const Status too_long = Guarded([] { std::vector<int>().reserve(size_t{1} << 63); });
  EXPECT_EQ(too_long.code(), ErrorCode::kResourceExhausted);
}

TEST(CaughtException, WhatTheSystemRefusedIsNoBug) {
  const Status status =
      Guarded([] { static_cast<void>(std::filesystem::file_size("no/such/file")); });
  EXPECT_EQ(status.code(), ErrorCode::kIo);
  EXPECT_NE(status.message().find("no/such/file"), std::string::npos) << status.message();
}

TEST(CaughtException, WhatTheSystemHasNoneLeftOfIsWantOfResources) {
  for (const int error : {ENOMEM, EAGAIN, EMFILE, ENOSPC}) {  // EAGAIN: no thread can be started
    const Status status =
        Guarded([&] { throw std::system_error(error, std::generic_category(), "a thread"); });
    EXPECT_EQ(status.code(), ErrorCode::kResourceExhausted) << status.message();
  }
}

TEST(CaughtException, AnythingElseIsABugOfOurs) {
  const Status status = Guarded([] { static_cast<void>(std::vector<int>(2).at(5)); });
  EXPECT_EQ(status.code(), ErrorCode::kInternal);
  EXPECT_TRUE(status.message().starts_with("cannot count: ")) << status.message();
  EXPECT_NE(status.message().find("please report it"), std::string::npos) << status.message();
  EXPECT_EQ(Guarded([] { throw 7; }).code(), ErrorCode::kInternal);
}

}  // namespace
}  // namespace resmem
