#include "search/approximate/codes/pair_words_x86.h"

#include "search/approximate/codes/list_scan_kernel.h"
#include "search/approximate/codes/pair_words.h"
#include "support/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace resmem {

#if defined(__x86_64__)

// In the intrinsics of g++ 12 themselves (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

bool WidePermutesAvailable() {
  static const bool available = __builtin_cpu_supports("avx512vbmi") != 0;
  return available;
}

// Four tables of 16 are one of 64: a byte's place among four chooses among them.
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi"))) void DecodeWordsByPermutes(
    const uint8_t* words, const uint8_t* tables, int64_t blocks, int64_t width, uint8_t* codes) {
  constexpr int64_t kVector = 64;
  constexpr int kMaskedOr = 0xec;  // (a & c) | b
  const __m512i places = _mm512_set1_epi32(0x30201000), four_bits = _mm512_set1_epi8(15);
  for (int64_t i = 0; i < width; i += 16) {
    __m512i table[4];
    for (int part = 0; part < 4; ++part) {
      table[part] = _mm512_loadu_si512(tables + i * kWords + part * kVector);
    }
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t row = block * width + i;
      const __m512i both = _mm512_loadu_si512(words + WordBytes(row) * kBlockRows);
      const __m512i lower = _mm512_ternarylogic_epi32(both, places, four_bits, kMaskedOr);
      const __m512i upper =
          _mm512_ternarylogic_epi32(_mm512_srli_epi16(both, 4), places, four_bits, kMaskedOr);
      uint8_t* out = codes + row * kBlockRows;
      _mm512_storeu_si512(out, _mm512_permutexvar_epi8(lower, table[0]));
      _mm512_storeu_si512(out + kVector, _mm512_permutexvar_epi8(lower, table[1]));
      _mm512_storeu_si512(out + 2 * kVector, _mm512_permutexvar_epi8(upper, table[2]));
      _mm512_storeu_si512(out + 3 * kVector, _mm512_permutexvar_epi8(upper, table[3]));
    }
  }
}

#else

bool WidePermutesAvailable() {
  return false;
}
void DecodeWordsByPermutes(const uint8_t*, const uint8_t*, int64_t, int64_t, uint8_t*) {
  RESMEM_DCHECK(false);
}

#endif

}  // namespace resmem
