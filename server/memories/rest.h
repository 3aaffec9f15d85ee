// So that a stream of edits does not take the processor from the readers: who makes them rests
// after a commit nineteen times as long as that kept a processor busy.
#ifndef RESMEM_SERVER_MEMORIES_REST_H_
#define RESMEM_SERVER_MEMORIES_REST_H_

#include <chrono>

namespace resmem::serve {

class Rest {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Rest(Clock::duration longest) : longest_(longest) {}

  void WorkBegins();
  void WorkEnds();
  Clock::time_point until() const { return until_; }

 private:
  const Clock::duration longest_;
  Clock::duration began_{};
  Clock::time_point until_{};
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_REST_H_
