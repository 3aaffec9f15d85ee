// What this machine can do at most, measured in the same run as what we do.
#ifndef RESMEM_BENCH_MACHINE_LIMITS_H_
#define RESMEM_BENCH_MACHINE_LIMITS_H_

#include <cstdint>

namespace resmem::bench {

// Bytes a second when `threads` threads read these floats one after the other: the best of
// several passes.
double ReadBandwidth(const float* data, int64_t n, int threads);

// Multiplications and additions a second with everything in registers: of floats, or of tiles of
// 16-bit numbers where the machine has them.
double PeakFlops(int threads, bool tiles);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_MACHINE_LIMITS_H_
