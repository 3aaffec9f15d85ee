// Parallel loops whose result cannot depend on the thread count: the work is cut into the
// same pieces whatever the number of threads; only who does a piece differs.
#ifndef RESMEM_SUPPORT_PARALLEL_H_
#define RESMEM_SUPPORT_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace resmem {

// `requested`, or the number of processors this process may use where it is 0 or less.
int ResolveThreads(int requested);

// Calls body(begin, end, worker) for consecutive pieces of [0, items) of `grain` items each.
// worker < threads identifies the thread, for scratch space.  The caller's thread takes part;
// threads are kept between calls.  A ParallelFor inside a body runs on the calling thread.  The
// first exception of a body is thrown again here, when every thread has left the loop.
void ParallelFor(int threads, int64_t items, int64_t grain,
                 const std::function<void(int64_t begin, int64_t end, int worker)>& body);

}  // namespace resmem

#endif  // RESMEM_SUPPORT_PARALLEL_H_
