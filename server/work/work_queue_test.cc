#include "work/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace resmem::serve {
namespace {

using namespace std::chrono_literals;

struct Seen {
  std::mutex mutex;
  std::vector<size_t> sizes;
  std::vector<bool> alone;
  std::shared_ptr<const Job::Group> group =
      std::make_shared<const Job::Group>([this](std::vector<Job> jobs, bool was_alone) {
        const std::lock_guard<std::mutex> lock(mutex);
        sizes.push_back(jobs.size());
        alone.push_back(was_alone);
      });
};

Job Of(const Seen& seen, int64_t bytes = 1) {
  Job job;
  job.group = seen.group;
  job.bytes = bytes;
  return job;
}

TEST(WorkQueue, JobsThatWaitTogetherAreTakenTogether) {
  WorkQueue queue({});
  Seen seen, other;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(queue.Push(Of(seen)));
  ASSERT_TRUE(queue.Push(Of(other)));
  ASSERT_TRUE(queue.Push(Of(seen)));
  queue.Close();
  queue.Work();
  EXPECT_EQ(seen.sizes, std::vector<size_t>{6});
  EXPECT_EQ(seen.alone, std::vector<bool>{false});
  EXPECT_EQ(other.sizes, std::vector<size_t>{1});
  EXPECT_EQ(other.alone, std::vector<bool>{true});
}

TEST(WorkQueue, ABatchStaysBelowItsLimits) {
  WorkQueue queue({.batch_requests = 3, .batch_bytes = 100});
  Seen seen, large;
  for (int i = 0; i < 7; ++i) queue.Push(Of(seen));
  for (int i = 0; i < 3; ++i) queue.Push(Of(large, 60));
  queue.Push(Of(large, 1000));
  queue.Close();
  queue.Work();
  EXPECT_EQ(seen.sizes, (std::vector<size_t>{3, 3, 1}));
  EXPECT_EQ(large.sizes, (std::vector<size_t>{1, 1, 1, 1}));
}

TEST(WorkQueue, RefusesMoreThanMayWait) {
  WorkQueue queue({.waiting = 2});
  Seen seen;
  EXPECT_TRUE(queue.Push(Of(seen)));
  EXPECT_TRUE(queue.Push(Of(seen)));
  EXPECT_FALSE(queue.Push(Of(seen)));
  EXPECT_EQ(queue.waiting(), 2);
  queue.Close();
  queue.Work();
  EXPECT_FALSE(queue.Push(Of(seen)));  // closed
}

TEST(WorkQueue, AfterABatchTheNextIsGathered) {
  WorkQueue queue({.gather = 30s});
  Seen seen;
  queue.Push(Of(seen));
  queue.Push(Of(seen));  // two came at a time: two are expected
  std::thread worker([&] { queue.Work(); });
  while (queue.waiting() > 0) std::this_thread::yield();
  queue.Push(Of(seen));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(queue.waiting(), 1);  // it waits for the other
  queue.Push(Of(seen));
  while (queue.waiting() > 0) std::this_thread::yield();
  queue.Close();
  worker.join();
  EXPECT_EQ(seen.sizes, (std::vector<size_t>{2, 2}));
}

TEST(WorkQueue, OneThatIsAloneDoesNotWait) {
  WorkQueue queue({.gather = 3600s});
  Seen seen;
  std::thread worker([&] { queue.Work(); });
  for (int i = 0; i < 3; ++i) {
    queue.Push(Of(seen));
    while (queue.waiting() > 0) std::this_thread::yield();
    std::this_thread::sleep_for(1ms);
  }
  queue.Close();
  worker.join();
  EXPECT_EQ(seen.sizes, (std::vector<size_t>{1, 1, 1}));
}

TEST(WorkQueue, ManyThreadsLoseNothing) {
  WorkQueue queue({.waiting = 100'000, .gather = 50us});
  std::atomic<int64_t> done{0};
  const auto group = std::make_shared<const Job::Group>(
      [&](std::vector<Job> jobs, bool) { done += static_cast<int64_t>(jobs.size()); });
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { queue.Work(); });
  std::vector<std::thread> senders;
  for (int s = 0; s < 4; ++s) {
    senders.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        Job job;
        if (i % 10 == 0) {
          job.run = [&] { ++done; };
        } else {
          job.group = group;
        }
        EXPECT_TRUE(queue.Push(std::move(job)));
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  queue.Close();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 8000);
}

}  // namespace
}  // namespace resmem::serve
