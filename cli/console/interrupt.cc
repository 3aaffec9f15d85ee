#include "console/interrupt.h"

#include <atomic>
#include <csignal>

namespace resmem::cli {
namespace {

std::atomic<int> interrupt_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "set in a signal handler");

void HandleSignal(int signal) {
  interrupt_signal.store(signal, std::memory_order_relaxed);
}

}  // namespace

void InstallSignalHandlers() {
  struct sigaction action {};
  action.sa_handler = HandleSignal;
  action.sa_flags = SA_RESTART | SA_RESETHAND;  // the second signal finds the default action
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present {};
    sigaction(signal, nullptr, &present);
    if (present.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup and the like
  }
  std::signal(SIGPIPE, SIG_IGN);  // a write then fails with EPIPE,
  std::signal(SIGXFSZ, SIG_IGN);  // or with EFBIG at the limit of a file's size
}

int InterruptSignal() {
  return interrupt_signal.load(std::memory_order_relaxed);
}

Status CheckInterrupt() {
  if (InterruptSignal() == 0) return {};
  return Status(ErrorCode::kCancelled, "stopped by a signal");
}

}  // namespace resmem::cli
