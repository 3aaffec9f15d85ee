#include "support/once.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace resmem {
namespace {

TEST(OnceTest, ManyThreadsMakeItOnce) {
  Once once;
  int made = 0;  // not atomic: whoever returns from Run() sees it made
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      once.Run([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++made;
      });
      right += made == 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
}

TEST(OnceTest, WhatIsThrownReachesTheCallerAndTheNextTriesAgain) {
  Once once;
  int tries = 0;
  const auto make = [&] {
    if (++tries == 1) throw std::runtime_error("no memory");
  };
  EXPECT_THROW(once.Run(make), std::runtime_error);
  once.Run(make);
  once.Run(make);
  EXPECT_EQ(tries, 2);
}

TEST(OnceTest, AChildForkedWhileItIsMadeMakesItsOwn) {
  Once once;
  std::atomic<bool> started = false, end = false;
  std::thread maker([&] {
    once.Run([&] {
      started = true;
      while (!end) std::this_thread::yield();
    });
  });
  while (!started) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool made = false;
    once.Run([&] { made = true; });
    _exit(made ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  end = true;
  maker.join();
}

}  // namespace
}  // namespace resmem
