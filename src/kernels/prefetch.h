// Asks the processor for what is read soon, so that it is there by then.
//
// Into the second cache, mostly.  The first one takes few lines at a time from memory, and whoever
// asks for more waits: on Zen 4, 50 rows of 400 bytes that lie anywhere took 2.9 us to ask for and
// read that way, 3.0 without asking, and 1.05 this way.
#ifndef RESMEM_KERNELS_PREFETCH_H_
#define RESMEM_KERNELS_PREFETCH_H_

#include <cstdint>

namespace resmem {

// The line at this place; nothing happens where there is no memory.
[[gnu::always_inline]] inline void PrefetchLine(const void* place) {
  __builtin_prefetch(place, 0, 2);
}

// A line that the second cache has, into the first.
[[gnu::always_inline]] inline void PrefetchNear(const void* place) {
  __builtin_prefetch(place, 0, 3);
}

// Every line of these bytes.
inline void PrefetchLines(const void* place, int64_t bytes) {
  constexpr uintptr_t kLine = 64;
  const auto begin = reinterpret_cast<uintptr_t>(place);
  const uintptr_t end = begin + static_cast<uintptr_t>(bytes);
  for (uintptr_t line = begin / kLine * kLine; line < end; line += kLine) {
    PrefetchLine(reinterpret_cast<const void*>(line));
  }
  // g++ 12 sees no effect in a function that only prefetches, and leaves out calls that it did not
  // inline before it found that out.
  asm volatile("");
}

}  // namespace resmem

#endif  // RESMEM_KERNELS_PREFETCH_H_
