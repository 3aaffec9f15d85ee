// What faiss is told before it works, so that its times are what their rows in a table say.
#ifndef RESMEM_BENCH_PEERS_FAISS_SETTINGS_H_
#define RESMEM_BENCH_PEERS_FAISS_SETTINGS_H_

#include <faiss/utils/distances.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>

// Null where another BLAS is linked.
extern "C" void openblas_set_num_threads(int threads) __attribute__((weak));

namespace resmem::bench {

// For so many queries, or keys, at once.
inline void SetFaiss(int64_t count, int threads) {
  omp_set_num_threads(threads);
  // Debian's has threads of its own, which those of OpenMP do not limit.
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(threads);
  // Newer ones multiply matrices for batches of 1,000 only when told to, and are faster then.
  static const int as_found = faiss::distance_compute_blas_threshold;
  faiss::distance_compute_blas_threshold = count == 1 ? as_found : std::min(as_found, 20);
}

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_PEERS_FAISS_SETTINGS_H_
