#include "search/first_pass/codes/code_scan_kernel_vnni.h"

#include <algorithm>
#include <bit>

#include "support/check.h"

#if defined(__x86_64__)

#include <immintrin.h>

// In the intrinsics of g++ 12 themselves.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

#define RESMEM_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#define RESMEM_VNNI_INLINE RESMEM_VNNI __attribute__((always_inline)) inline

namespace resmem {
namespace {

constexpr int64_t kMostDim = 4096;  // so that a query in two halves fits on the stack
constexpr int64_t kChunk = 64;      // codes in a vector
constexpr int64_t kTogether = 16;   // rows

// The instruction multiplies unsigned by signed bytes.  With q = 256 high + low, both signed, and
// unsigned x + 128:  sum of q x = 256 * sum of high (x + 128) + sum of low (x + 128) - 128 sum of
// q. Sums may wrap around on the way; the result fits, see LargestQueryCode().
struct HalvedQuery {
  alignas(64) int8_t high[kMostDim];
  alignas(64) int8_t low[kMostDim];
  int32_t sum;
};

RESMEM_VNNI void Halve(const int16_t* codes, int64_t dim, HalvedQuery* out) {
  const int64_t padded = (dim + kChunk - 1) / kChunk * kChunk;
  __m512i sum = _mm512_setzero_si512();
  const __m512i ones = _mm512_set1_epi16(1);
  for (int64_t i = 0; i < padded; i += 32) {
    const int64_t left = std::clamp<int64_t>(dim - i, 0, 32);
    const __mmask32 there = static_cast<__mmask32>((uint64_t{1} << left) - 1);
    const __m512i code = _mm512_maskz_loadu_epi16(there, codes + i);
    const __m256i low = _mm512_cvtepi16_epi8(code);
    const __m512i rest = _mm512_sub_epi16(code, _mm512_cvtepi8_epi16(low));
    _mm256_store_si256(reinterpret_cast<__m256i*>(out->low + i), low);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out->high + i),
                       _mm512_cvtepi16_epi8(_mm512_srai_epi16(rest, 8)));
    sum = _mm512_dpwssd_epi32(sum, code, ones);
  }
  out->sum = _mm512_reduce_add_epi32(sum);
}

struct Sums {
  __m512i high, low;
};

RESMEM_VNNI_INLINE void AddChunk(__m512i codes, __m512i high, __m512i low, Sums* sums) {
  const __m512i shifted = _mm512_xor_si512(codes, _mm512_set1_epi8(-128));
  sums->high = _mm512_dpbusd_epi32(sums->high, shifted, high);
  sums->low = _mm512_dpbusd_epi32(sums->low, shifted, low);
}

// Blocks of four lanes whose sum over the four blocks are the dot products of rows 0 .. 3, short of
// -128 sum of q.
RESMEM_VNNI_INLINE __m512i DotFour(const HalvedQuery& query, const int8_t* codes, int64_t stride,
                                   int64_t dim) {
  Sums sums[4];
#pragma GCC unroll 4
  for (Sums& row : sums) row = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  int64_t i = 0;
  for (; i + kChunk <= dim; i += kChunk) {
    const __m512i high = _mm512_load_si512(query.high + i);
    const __m512i low = _mm512_load_si512(query.low + i);
#pragma GCC unroll 4
    for (int64_t row = 0; row < 4; ++row) {
      AddChunk(_mm512_loadu_si512(codes + row * stride + i), high, low, &sums[row]);
    }
  }
  if (i < dim) {
    const __mmask64 there = (uint64_t{1} << (dim - i)) - 1;
    const __m512i high = _mm512_load_si512(query.high + i);
    const __m512i low = _mm512_load_si512(query.low + i);
#pragma GCC unroll 4
    for (int64_t row = 0; row < 4; ++row) {
      AddChunk(_mm512_maskz_loadu_epi8(there, codes + row * stride + i), high, low, &sums[row]);
    }
  }
  __m512i dots[4];
#pragma GCC unroll 4
  for (int row = 0; row < 4; ++row) {
    dots[row] = _mm512_add_epi32(_mm512_slli_epi32(sums[row].high, 8), sums[row].low);
  }
  const __m512i pair01 = _mm512_add_epi32(_mm512_unpacklo_epi32(dots[0], dots[1]),
                                          _mm512_unpackhi_epi32(dots[0], dots[1]));
  const __m512i pair23 = _mm512_add_epi32(_mm512_unpacklo_epi32(dots[2], dots[3]),
                                          _mm512_unpackhi_epi32(dots[2], dots[3]));
  return _mm512_add_epi32(_mm512_unpacklo_epi64(pair01, pair23),
                          _mm512_unpackhi_epi64(pair01, pair23));
}

// The sums over the blocks of a, of b, of c, of d: a block each.
RESMEM_VNNI_INLINE __m512i SumBlocks(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ab =
      _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x44), _mm512_shuffle_i32x4(a, b, 0xEE));
  const __m512i cd =
      _mm512_add_epi32(_mm512_shuffle_i32x4(c, d, 0x44), _mm512_shuffle_i32x4(c, d, 0xEE));
  return _mm512_add_epi32(_mm512_shuffle_i32x4(ab, cd, 0x88), _mm512_shuffle_i32x4(ab, cd, 0xDD));
}

// Of 16 rows, or of the one row 16 times where stride is 0.
RESMEM_VNNI_INLINE __m512i Dots(const HalvedQuery& query, const int8_t* codes, int64_t stride,
                                int64_t dim) {
  const __m512i sums =
      SumBlocks(DotFour(query, codes, stride, dim), DotFour(query, codes + 4 * stride, stride, dim),
                DotFour(query, codes + 8 * stride, stride, dim),
                DotFour(query, codes + 12 * stride, stride, dim));
  const uint32_t too_much = 128u * static_cast<uint32_t>(query.sum);
  return _mm512_sub_epi32(sums, _mm512_set1_epi32(static_cast<int32_t>(too_much)));
}

}  // namespace

bool VnniApplies(int64_t dim) {
  static const bool available = __builtin_cpu_supports("avx512vnni") != 0;
  return available && dim <= kMostDim;
}

RESMEM_VNNI int64_t ScanCodesVnni(const CodedQuery& query, const CodedRows& rows, int64_t count,
                                  int64_t dim, float reach, RowBelow* out) {
  HalvedQuery halved;
  Halve(query.codes, dim, &halved);
  const int64_t whole = count / kTogether * kTogether;
  int64_t found = 0;
  for (int64_t row = 0; row < count; row += row < whole ? kTogether : 1) {
    const bool alone = row >= whole;
    const __mmask16 there = alone ? 1 : 0xFFFF;
    const __m512i dots = Dots(halved, rows.codes + row * dim, alone ? 0 : dim, dim);
    const __m512 product = _mm512_mul_ps(
        _mm512_mul_ps(_mm512_cvtepi32_ps(dots), _mm512_maskz_loadu_ps(there, rows.scales + row)),
        _mm512_set1_ps(query.double_scale));
    const __m512 norms =
        _mm512_add_ps(_mm512_set1_ps(query.norm), _mm512_maskz_loadu_ps(there, rows.norms + row));
    const __m512 value = _mm512_sub_ps(norms, product);
    const __m512 radius =
        _mm512_add_ps(_mm512_set1_ps(reach), _mm512_maskz_loadu_ps(there, rows.errors + row));
    uint32_t below =
        _mm512_mask_cmp_ps_mask(there, value, _mm512_mul_ps(radius, radius), _CMP_LE_OQ);
    if (below == 0) continue;
    alignas(64) float values[16];
    _mm512_store_ps(values, value);
    for (; below != 0; below &= below - 1) {
      const int lane = std::countr_zero(below);
      out[found++] = {values[lane], static_cast<int32_t>(row + lane)};
    }
  }
  return found;
}

}  // namespace resmem

#else

namespace resmem {

bool VnniApplies(int64_t) {
  return false;
}
int64_t ScanCodesVnni(const CodedQuery&, const CodedRows&, int64_t, int64_t, float, RowBelow*) {
  RESMEM_DCHECK(false);
  return 0;
}

}  // namespace resmem

#endif
