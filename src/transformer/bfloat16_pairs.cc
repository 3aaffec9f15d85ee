#include "transformer/bfloat16_pairs.h"

#include "support/check.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define RESMEM_PAIRS __attribute__((target("avx512f,avx512bf16")))

namespace resmem {
namespace {

constexpr int64_t kRowsTogether = 8;  // 16 sums hide the latency of an instruction

// Eight rows of `a` with a panel, of which 32 inner values take 1,024 places.
RESMEM_PAIRS void MultiplyPanel(int64_t inner, const Bfloat16* a, int64_t a_stride,
                                const Bfloat16* b, bool add, float* c, int64_t c_stride) {
  __m512 left[kRowsTogether], right[kRowsTogether];
  for (int64_t row = 0; row < kRowsTogether; ++row) {
    left[row] = add ? _mm512_loadu_ps(c + row * c_stride) : _mm512_setzero_ps();
    right[row] = add ? _mm512_loadu_ps(c + row * c_stride + 16) : _mm512_setzero_ps();
  }
  for (int64_t step = 0; step < inner; step += kPanelSide, b += 1024) {
    for (int64_t pair = 0; pair < 16; ++pair) {
      const auto left_words = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + pair * 32));
      const auto right_words = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + 512 + pair * 32));
      for (int64_t row = 0; row < kRowsTogether; ++row) {
        int word;  // two values
        __builtin_memcpy(&word, a + row * a_stride + step + 2 * pair, sizeof word);
        const auto words = reinterpret_cast<__m512bh>(_mm512_set1_epi32(word));
        left[row] = _mm512_dpbf16_ps(left[row], words, left_words);
        right[row] = _mm512_dpbf16_ps(right[row], words, right_words);
      }
    }
  }
  for (int64_t row = 0; row < kRowsTogether; ++row) {
    _mm512_storeu_ps(c + row * c_stride, left[row]);
    _mm512_storeu_ps(c + row * c_stride + 16, right[row]);
  }
}

}  // namespace

bool PairProductsAvailable() {
  static const bool available = __builtin_cpu_supports("avx512bf16") != 0;
  return available;
}

void MultiplyByPairs(int64_t rows, int64_t columns, int64_t inner, const Bfloat16* a,
                     int64_t a_stride, Panels b, bool add, float* c, int64_t c_stride) {
  // A panel stays in the second cache while all rows meet it.
  for (int64_t column = 0; column < columns; column += kPanelSide) {
    for (int64_t row = 0; row < rows; row += kRowsTogether) {
      MultiplyPanel(inner, a + row * a_stride, a_stride, b.SkipColumns(column).data, add,
                    c + row * c_stride + column, c_stride);
    }
  }
}

}  // namespace resmem

#else

namespace resmem {

bool PairProductsAvailable() {
  return false;
}
void MultiplyByPairs(int64_t, int64_t, int64_t, const Bfloat16*, int64_t, Panels, bool, float*,
                     int64_t) {
  RESMEM_DCHECK(false);
}

}  // namespace resmem

#endif
