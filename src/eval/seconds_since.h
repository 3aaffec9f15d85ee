// How long something took.
#ifndef RESMEM_EVAL_SECONDS_SINCE_H_
#define RESMEM_EVAL_SECONDS_SINCE_H_

#include <chrono>

namespace resmem {

inline double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace resmem

#endif  // RESMEM_EVAL_SECONDS_SINCE_H_
