// For files whose functions use tiles and bf16 conversions by intrinsics; compiled on x86 only and
// called only where AmxActive().  Every function of such a file that touches a vector carries
// RESMEM_TILE_TARGET; a lambda would not inherit it.
#ifndef RESMEM_LAB_TRAIN_TILES_TILE_TARGET_H_
#define RESMEM_LAB_TRAIN_TILES_TILE_TARGET_H_

#include <immintrin.h>

#include "kernels/bfloat16.h"

#define RESMEM_TILE_TARGET \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")))

namespace resmem::train {

RESMEM_TILE_TARGET inline __m512 Load16(const Bfloat16* from) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
RESMEM_TILE_TARGET inline __m256i Round16(__m512 values) {
  return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(values));
}
RESMEM_TILE_TARGET inline void Store16(__m256i halves, Bfloat16* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), halves);
}

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TILES_TILE_TARGET_H_
