// The instruction set that the kernels use.
#ifndef RESMEM_PROGRAM_SIMD_H_
#define RESMEM_PROGRAM_SIMD_H_

#include <string>
#include <vector>

namespace resmem {

// "amx", "avx512", "avx2", ...: the instruction set that the kernels use on this machine, and
// all that could be chosen with the environment variable RESMEM_SIMD.
std::string SimdName();
std::vector<std::string> SimdNamesAvailable();

}  // namespace resmem

#endif  // RESMEM_PROGRAM_SIMD_H_
