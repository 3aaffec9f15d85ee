#include "support/thread_own.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace resmem {
namespace {

std::atomic<int> living = 0;

struct Counted {
  Counted() { ++living; }
  ~Counted() { --living; }
  int value = 0;
};

TEST(ThreadOwnTest, EachThreadHasItsOwnUntilItEnds) {
  static const ThreadOwn<Counted> own;
  own.Get().value = 1;
  EXPECT_EQ(own.Get().value, 1);
  std::thread([] {
    EXPECT_EQ(own.Get().value, 0);
    own.Get().value = 2;
    EXPECT_EQ(living, 2);
  }).join();
  EXPECT_EQ(living, 1);
  EXPECT_EQ(own.Get().value, 1);
}

}  // namespace
}  // namespace resmem
