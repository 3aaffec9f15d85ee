#include "support/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

namespace resmem {
namespace {

TEST(ParallelFor, VisitsEveryItemOnceForAnyThreadCount) {
  for (int threads : {1, 2, 3, 8}) {
    for (int64_t items : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(items));
      ParallelFor(threads, items, 3, [&](int64_t begin, int64_t end, int worker) {
        EXPECT_GE(worker, 0);
        EXPECT_LT(worker, threads);
        for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      for (const std::atomic<int>& count : visits) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ParallelFor, PiecesAreTheSameForAnyThreadCount) {
  ParallelFor(4, 10, 4, [&](int64_t begin, int64_t end, int) {
    EXPECT_EQ(begin % 4, 0);
    EXPECT_EQ(end, std::min<int64_t>(10, begin + 4));
  });
}

TEST(ParallelFor, MayBeCalledInsideItselfAndFromTwoThreads) {
  std::atomic<int64_t> sum{0};
  auto work = [&] {
    for (int round = 0; round < 200; ++round) {
      ParallelFor(3, 8, 1, [&](int64_t, int64_t, int) {
        ParallelFor(3, 5, 1, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
      });
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(sum, 2 * 200 * 8 * 5);
}

TEST(ParallelFor, ThrowsAgainWhatABodyThrewAndWorksAfterwards) {
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(ParallelFor(3, 100, 1,
                             [](int64_t begin, int64_t, int) {
                               if (begin % 7 == 3) throw std::bad_alloc();
                             }),
                 std::bad_alloc);
    std::atomic<int> visits{0};
    ParallelFor(3, 10, 1, [&](int64_t, int64_t, int) { ++visits; });
    EXPECT_EQ(visits, 10);
  }
}

TEST(ResolveThreads, KeepsARequestAndFindsADefault) {
  EXPECT_EQ(ResolveThreads(3), 3);
  EXPECT_GE(ResolveThreads(0), 1);
}

}  // namespace
}  // namespace resmem
