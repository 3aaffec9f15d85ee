// What this machine can do at most, measured in the same run as what we do.
#ifndef RESMEM_BENCH_MACHINE_LIMITS_H_
#define RESMEM_BENCH_MACHINE_LIMITS_H_

#include <cstdint>

namespace resmem::bench {

// Bytes a second when `threads` threads read these floats one after the other: the best of
// several passes.
double ReadBandwidth(const float* data, int64_t n, int threads);

// Multiplications and additions of floats a second, with everything in registers.
double PeakFlops(int threads);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_MACHINE_LIMITS_H_
