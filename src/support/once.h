// Something that is made at its first use, by whichever thread comes first.
#ifndef RESMEM_SUPPORT_ONCE_H_
#define RESMEM_SUPPORT_ONCE_H_

#include <unistd.h>

#include <atomic>

namespace resmem {

// As std::once_flag, but what the maker throws passes through no frame of the C library: glibc
// allocates to unwind its pthread_once, and aborts the process where there is no memory.
class Once {
 public:
  Once() = default;
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  // Calls `make` unless a call returned before.  Waits for another thread that is at it.  What
  // `make` throws goes to this caller; the next one tries again.
  template <class Make>
  void Run(const Make& make) {
    int state = state_.load(std::memory_order_acquire);
    while (state != kDone) {
      const int us = ::getpid();
      if (state == us) {
        state_.wait(us, std::memory_order_acquire);
        state = state_.load(std::memory_order_acquire);
      } else if (state_.compare_exchange_weak(state, us, std::memory_order_acquire)) {
        Ending ending(&state_);
        make();
        ending.state = kDone;
        return;
      }
    }
  }

 private:
  static constexpr int kNotYet = 0, kDone = -1;

  // Sets the state however make() ends, and wakes those who wait.
  struct Ending {
    explicit Ending(std::atomic<int>* target_in) : target(target_in) {}
    ~Ending() {
      target->store(state, std::memory_order_release);
      target->notify_all();
    }
    std::atomic<int>* target;
    int state = kNotYet;
  };

  // Also the number of the process in which a thread is making it: a child that was forked
  // meanwhile lacks that thread and makes its own.
  std::atomic<int> state_ = kNotYet;
};

}  // namespace resmem

#endif  // RESMEM_SUPPORT_ONCE_H_
