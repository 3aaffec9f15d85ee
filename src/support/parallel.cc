#include "support/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace resmem {
namespace {

// In the space that every thread has from its start: otherwise, in a library that was loaded later,
// the C library allocates at the first use, and ends the process if it cannot.
[[gnu::tls_model("initial-exec")]] thread_local bool inside_parallel_for = false;

// One loop that is being worked on.  Lives on the caller's stack until every helper left it.
struct Loop {
  int64_t items = 0;
  int64_t grain = 1;
  const std::function<void(int64_t, int64_t, int)>* body = nullptr;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // the first; guarded by mutex

  void Work(int worker) {
    const bool nested = inside_parallel_for;
    inside_parallel_for = true;
    try {
      for (;;) {
        const int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
        if (begin >= items) break;
        (*body)(begin, std::min(items, begin + grain), worker);
      }
    } catch (...) {
      next = items;  // no more pieces are handed out
      const std::lock_guard<std::mutex> lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
    }
    inside_parallel_for = nested;
  }
};

// Whoever waits looks for a moment before it sleeps: waking a thread takes as long as half a search
// of 50,000 keys.  Longer, a busy machine would only be made busier.
class ShortWait {
 public:
  // `shared`: there are more threads than processors, so that looking would keep others from work.
  explicit ShortWait(bool shared) : longest_(shared ? 0 : 50) {}

  template <class Condition>
  void Until(const Condition& come) const {
    // By the clock: how long a pause takes differs tenfold between processors.
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + longest_;
    while (!come() && Clock::now() < end) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }

 private:
  const std::chrono::microseconds longest_;
};

class Pool {
 public:
  ~Pool() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  // Runs the loop with `helpers` more threads.  Returns false where another caller has the pool.
  bool Run(Loop* loop, int helpers) {
    std::unique_lock<std::mutex> owner(owner_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      while (static_cast<int>(helpers_.size()) < helpers) {
        const int worker = static_cast<int>(helpers_.size()) + 1;
        try {
          helpers_.emplace_back([this, worker] { Serve(worker); });
        } catch (const std::exception&) {
          break;  // the system gives no more threads: those there are do the work
        }
      }
      loop_ = loop;
      invited_ = helpers;
      ++ticket_;
    }
    wake_.notify_all();
    loop->Work(0);
    std::unique_lock<std::mutex> lock(mutex_);
    loop_ = nullptr;  // helpers that have not woken yet need not come any more
    if (working_ > 0) {
      lock.unlock();
      WaitFor(helpers).Until([this] { return working_ == 0; });
      lock.lock();
    }
    idle_.wait(lock, [this] { return working_ == 0; });
    return true;
  }

 private:
  ShortWait WaitFor(int helpers) const { return ShortWait(helpers >= processors_); }

  void Serve(int worker) {
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      if (seen > 0 && seen == ticket_) {
        const ShortWait wait = WaitFor(invited_);
        lock.unlock();
        wait.Until([&] { return stopping_ || ticket_ != seen; });
        lock.lock();
      }
      wake_.wait(lock, [&] { return stopping_ || ticket_ != seen; });
      if (stopping_) return;
      seen = ticket_;
      Loop* loop = loop_;
      if (loop == nullptr || worker > invited_) continue;
      ++working_;
      lock.unlock();
      loop->Work(worker);
      lock.lock();
      if (--working_ == 0) idle_.notify_one();
    }
  }

  const int processors_ = ResolveThreads(0);
  std::mutex owner_;  // held by the caller whose loop runs
  std::mutex mutex_;  // guards all below; the atomic ones may be looked at without it
  std::condition_variable wake_, idle_;
  std::vector<std::thread> helpers_;
  Loop* loop_ = nullptr;
  int invited_ = 0;
  std::atomic<int> working_ = 0;
  std::atomic<uint64_t> ticket_ = 0;
  std::atomic<bool> stopping_ = false;
};

// A child that was forked has the pool's memory but none of its threads, and perhaps a lock that
// nobody will release: it gets a new pool, and the old one is left alone.
class ProcessPool {
 public:
  ProcessPool() {
    current_ = new Pool;
    ::pthread_atfork(nullptr, nullptr, [] { current_ = new Pool; });
  }
  ~ProcessPool() { delete current_; }
  Pool& pool() { return *current_; }

 private:
  static inline Pool* current_ = nullptr;
};

Pool& SharedPool() {
  static ProcessPool process;
  return process.pool();
}

}  // namespace

int ResolveThreads(int requested) {
  if (requested > 0) return requested;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void ParallelFor(int threads, int64_t items, int64_t grain,
                 const std::function<void(int64_t, int64_t, int)>& body) {
  if (items <= 0) return;
  grain = std::max<int64_t>(1, grain);
  Loop loop;
  loop.items = items;
  loop.grain = grain;
  loop.body = &body;
  const int64_t pieces = (items + grain - 1) / grain;
  const int helpers = static_cast<int>(std::min<int64_t>(ResolveThreads(threads), pieces)) - 1;
  // Two callers at once: the second works alone rather than wait for the first.
  const bool done = helpers > 0 && !inside_parallel_for && SharedPool().Run(&loop, helpers);
  if (!done) loop.Work(0);
  if (loop.failure != nullptr) std::rethrow_exception(loop.failure);
}

}  // namespace resmem
