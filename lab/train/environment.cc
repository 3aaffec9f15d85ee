#include "train/environment.h"

#include <malloc.h>
#include <unistd.h>

#include <ATen/Parallel.h>

#include <climits>
#include <cstdlib>

// Of OpenBLAS, where libtorch brings it: it keeps threads of its own that libtorch cannot count.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int threads);

namespace resmem::train {
namespace {

// Set once we have been started again.
constexpr char kReady[] = "RESMEM_TRAIN_READY";

}  // namespace

void SetEnvironment(char** argv) {
  if (std::getenv(kReady) == nullptr) {
    setenv(kReady, "1", 1);
    // A virtual machine may hide the CPU leaf by which oneDNN 2.6 sets up AMX; its code dies there.
    setenv("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
    // OpenBLAS 0.3.21 takes such machines for a Prescott, five times too slow.
    if (__builtin_cpu_supports("avx512f")) {
      setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    } else if (__builtin_cpu_supports("avx2")) {
      setenv("OPENBLAS_CORETYPE", "Haswell", 0);
    }
    // Threads wait at a barrier for some microseconds and then sleep: endless spinning makes a
    // step ten times slower as soon as another program wants a core.
    setenv("GOMP_SPINCOUNT", "30000", 0);
    // OpenBLAS of the other package keeps threads of its own, which ask for a processor over and
    // over for some 20 ms after each product: a fifth of a step on two processors.  2^4 cycles.
    setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);
    execv("/proc/self/exe", argv);  // returns only on failure: then we go on, slower
  }
  // Activations of some megabytes come and go at each step.  By default each is mapped again, and
  // the page faults take more than half of the time of a step.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
}

void SetLibraryThreads(int threads) {
  at::set_num_threads(threads);
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(threads);
}

}  // namespace resmem::train
