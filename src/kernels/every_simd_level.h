// For tests: runs a check at every instruction set that this machine has.
#ifndef RESMEM_KERNELS_EVERY_SIMD_LEVEL_H_
#define RESMEM_KERNELS_EVERY_SIMD_LEVEL_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kernels/simd_level.h"
#include "resmem_program/simd.h"

namespace resmem {

inline void AtEverySimdLevel(const std::function<void()>& check) {
  for (const std::string& name : SimdNamesAvailable()) {
    SCOPED_TRACE("instruction set " + name);
    const ScopedSimdLevel level(name);
    check();
  }
}

}  // namespace resmem

#endif  // RESMEM_KERNELS_EVERY_SIMD_LEVEL_H_
