// How long-running work reports its progress and learns that it should stop.
#ifndef RESMEM_PROGRESS_H_
#define RESMEM_PROGRESS_H_

#include <cstdint>
#include <string_view>

namespace resmem {

// Every call that takes a `Progress*` accepts nullptr.  Report() may come from any
// thread, but never from two at once.  Once Cancelled() is true the work returns
// kCancelled soon and leaves nothing half-written.
class Progress {
 public:
  virtual ~Progress() = default;
  // `done` of `total` units ("rows", "queries", ...) of the stage named `stage`.
  virtual void Report(std::string_view /*stage*/, int64_t /*done*/, int64_t /*total*/) {}
  virtual bool Cancelled() const { return false; }
};

}  // namespace resmem

#endif  // RESMEM_PROGRESS_H_
