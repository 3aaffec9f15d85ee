// A clock, and what repeated measurements say together.
#ifndef RESMEM_BENCH_TIMING_H_
#define RESMEM_BENCH_TIMING_H_

#include <algorithm>
#include <chrono>
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

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_TIMING_H_
