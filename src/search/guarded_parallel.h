// ParallelFor for bodies that allocate: an exception must not leave a thread.
#ifndef RESMEM_SEARCH_GUARDED_PARALLEL_H_
#define RESMEM_SEARCH_GUARDED_PARALLEL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <new>

#include "resmem/status.h"
#include "support/parallel.h"

namespace resmem {

inline Status OutOfMemory() {
  return Status(ErrorCode::kResourceExhausted,
                "no memory left to search with; ask for fewer neighbors or queries at a time");
}

// OutOfMemory() where a body ran out of memory; the other pieces were worked on all the same.
inline Status GuardedParallelFor(
    int threads, int64_t items, int64_t grain,
    const std::function<void(int64_t begin, int64_t end, int worker)>& body) {
  std::atomic<bool> exhausted{false};
  ParallelFor(threads, items, grain, [&](int64_t begin, int64_t end, int worker) {
    try {
      body(begin, end, worker);
    } catch (const std::bad_alloc&) {
      exhausted = true;
    }
  });
  return exhausted ? OutOfMemory() : Status();
}

}  // namespace resmem

#endif  // RESMEM_SEARCH_GUARDED_PARALLEL_H_
