#include "support/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
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

TEST(ParallelFor, WorksInAForkedChildWhichCanAlsoExit) {
  std::atomic<int64_t> before{0};
  ParallelFor(3, 100, 1, [&](int64_t, int64_t, int) { ++before; });
  // Others use the pool while we fork, as threads of a Python program do.
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) ParallelFor(3, 50, 1, [](int64_t, int64_t, int) {});
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // a child that hangs is killed
      std::atomic<int> visits{0};
      ParallelFor(3, 100, 1, [&](int64_t, int64_t, int) { ++visits; });
      if (round == 0) std::exit(visits == 100 ? 0 : 1);  // joins the threads of its own pool
      ::_exit(visits == 100 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "round " << round;
  }
  stop = true;
  other.join();
}

TEST(ResolveThreads, KeepsARequestAndFindsADefault) {
  EXPECT_EQ(ResolveThreads(3), 3);
  EXPECT_GE(ResolveThreads(0), 1);
}

}  // namespace
}  // namespace resmem
