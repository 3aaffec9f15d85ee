#include "memories/rest.h"

#include <algorithm>
#include <ctime>

namespace resmem::serve {
namespace {

// Times what a commit kept a processor busy.
constexpr int kRest = 19;

// Of this thread: waiting for the disk takes nothing from the readers.
Rest::Clock::duration ProcessorTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

void Rest::WorkBegins() {
  began_ = ProcessorTime();
}

void Rest::WorkEnds() {
  until_ = Clock::now() + std::min(kRest * (ProcessorTime() - began_), longest_);
}

}  // namespace resmem::serve
