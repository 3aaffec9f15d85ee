// Which instruction set the kernels use.  Chosen once, at the first call: the best that the
// machine has, or the one that RESMEM_SIMD names (an unknown name changes nothing; SimdName()
// in resmem_program/simd.h tells the choice).
//
// A kernel file compiles its functions once per instruction set with hwy/foreach_target.h,
// exports them with HWY_EXPORT and calls them through RESMEM_DISPATCH.
#ifndef RESMEM_KERNELS_SIMD_LEVEL_H_
#define RESMEM_KERNELS_SIMD_LEVEL_H_

#include <string>

#include "hwy/targets.h"

namespace resmem {

// Our own, not hwy::GetChosenTarget(): a program that uses Highway too keeps its choice.
const hwy::ChosenTarget& ActiveSimd();

// For tests: all kernels of the process run at `name` until it goes out of scope.  Must not
// live while another thread computes.
class ScopedSimdLevel {
 public:
  explicit ScopedSimdLevel(const std::string& name);
  ~ScopedSimdLevel();
  ScopedSimdLevel(const ScopedSimdLevel&) = delete;
  ScopedSimdLevel& operator=(const ScopedSimdLevel&) = delete;

 private:
  std::string previous_;
};

}  // namespace resmem

#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0  // a single instruction set: a table of one
#define RESMEM_DISPATCH(function) (*HWY_DISPATCH_TABLE(function)[0])
#else
#define RESMEM_DISPATCH(function) (*HWY_DISPATCH_TABLE(function)[::resmem::ActiveSimd().GetIndex()])
#endif

#endif  // RESMEM_KERNELS_SIMD_LEVEL_H_
