// A clock, and what repeated measurements say together.
#ifndef RESMEM_BENCH_TIMING_H_
#define RESMEM_BENCH_TIMING_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace resmem::bench {

inline double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Spread {
  double median = 0, least = 0, most = 0;
};

inline Spread SpreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

// Seconds of run(0), run(1), ...: for half a second and at least 3 times, or for 6 seconds.
template <class Run>
Spread Repeat(const Run& run) {
  std::vector<double> seconds;
  double total = 0;
  for (int64_t i = 0; (seconds.size() < 3 && total < 6) || (total < 0.5 && seconds.size() < 500);
       ++i) {
    const double start = SecondsNow();
    run(i);
    seconds.push_back(SecondsNow() - start);
    total += seconds.back();
  }
  return SpreadOf(std::move(seconds));
}

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_TIMING_H_
