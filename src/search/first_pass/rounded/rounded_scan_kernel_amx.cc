#include "search/first_pass/rounded/rounded_scan_kernel_amx.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "kernels/amx.h"

#if defined(__x86_64__)

#include <immintrin.h>

// In the intrinsics of g++ 12 themselves.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define RESMEM_AMX                                                                  \
  __attribute__((                                                                   \
      target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16,fma," \
             "bmi")))
#define RESMEM_AMX_INLINE RESMEM_AMX __attribute__((always_inline)) inline

namespace resmem {
namespace {

constexpr int64_t kPiece = 32;      // coordinates that a tile holds
constexpr int64_t kTile = 16 * 32;  // numbers in a tile of bfloat16
constexpr int64_t kSums = 16 * 16;  // in a tile of float
constexpr int64_t kTogether = 4;    // blocks

RESMEM_AMX_INLINE __m512 FloatsOf(__m256i bfloats) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bfloats), 16));
}

// Rounds 32 coordinates of a key, those that `below` and `above` mark, and adds to the sums.
RESMEM_AMX_INLINE void RoundPiece(const float* key, const float* center, __mmask16 below,
                                  __mmask16 above, __m512i* rounded, __m512* norm, __m512* error) {
  const __m512 low =
      _mm512_sub_ps(_mm512_maskz_loadu_ps(below, key), _mm512_maskz_loadu_ps(below, center));
  const __m512 high = _mm512_sub_ps(_mm512_maskz_loadu_ps(above, key + 16),
                                    _mm512_maskz_loadu_ps(above, center + 16));
  *rounded = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
  const __m512 rounded_low = FloatsOf(_mm512_castsi512_si256(*rounded));
  const __m512 rounded_high = FloatsOf(_mm512_extracti64x4_epi64(*rounded, 1));
  *norm = _mm512_fmadd_ps(rounded_low, rounded_low, *norm);
  *norm = _mm512_fmadd_ps(rounded_high, rounded_high, *norm);
  const __m512 off_low = _mm512_sub_ps(low, rounded_low);
  const __m512 off_high = _mm512_sub_ps(high, rounded_high);
  *error = _mm512_fmadd_ps(off_low, off_low, *error);
  *error = _mm512_fmadd_ps(off_high, off_high, *error);
}

RESMEM_AMX_INLINE RoundedNorms PackKey(const float* key, int64_t dim, const float* center,
                                       uint16_t* out) {
  __m512i rounded;
  __m512 norm = _mm512_setzero_ps(), error = _mm512_setzero_ps();
  int64_t i = 0;
  for (; i + kPiece <= dim; i += kPiece, out += kRoundedKeys * kPiece) {
    RoundPiece(key + i, center + i, 0xFFFF, 0xFFFF, &rounded, &norm, &error);
    _mm512_storeu_si512(out, rounded);
  }
  if (i < dim) {
    const uint32_t there = (uint32_t{1} << (dim - i)) - 1;
    RoundPiece(key + i, center + i, static_cast<__mmask16>(there),
               static_cast<__mmask16>(there >> 16), &rounded, &norm, &error);
    _mm512_storeu_si512(out, rounded);
  }
  return {_mm512_reduce_add_ps(norm), _mm512_reduce_add_ps(error)};
}

// A stretch of memory that is brought into the second cache, a few lines at a time.
class Ahead {
 public:
  explicit Ahead(std::span<const uint16_t> numbers)
      : next_(reinterpret_cast<const char*>(numbers.data())), end_(next_ + numbers.size_bytes()) {}

  RESMEM_AMX_INLINE void Fetch() {
    if (next_ >= end_) return;
    for (int line = 0; line < kLines; ++line) _mm_prefetch(next_ + 64 * line, _MM_HINT_T1);
    next_ += 64 * kLines;
  }

 private:
  // A piece of a block has 32 lines, which 16 groups of queries and more pass by.
  static constexpr int kLines = 2;
  const char* next_;
  const char* const end_;
};

// sums[0 .. 3] = products of keys 0 .. 15 with queries 0 .. 15, with queries 16 .. 31, then of
// and keys 16 .. 31; in each, a row is a key.
RESMEM_AMX_INLINE void MultiplyBlock(const uint16_t* group, const uint16_t* block, int64_t pieces,
                                     Ahead* ahead, float* sums) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t p = 0; p < pieces; ++p) {
    ahead->Fetch();
    _tile_loadd(4, block, 64);
    _tile_loadd(6, group, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, group + kTile, 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, block + kTile, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    block += 2 * kTile;
    group += 2 * kTile;
  }
  _tile_stored(0, sums, 64);
  _tile_stored(1, sums + kSums, 64);
  _tile_stored(2, sums + 2 * kSums, 64);
  _tile_stored(3, sums + 3 * kSums, 64);
}

// Bit q of below[row]: whether key `row` of one tile is not above the threshold of query q.
RESMEM_AMX_INLINE void Compare(const float* sums, const float* half_norms, __m512 thresholds,
                               uint16_t* below) {
#pragma GCC unroll 16
  for (int row = 0; row < 16; ++row) {
    const __m512 value =
        _mm512_sub_ps(_mm512_set1_ps(half_norms[row]), _mm512_load_ps(sums + row * 16));
    below[row] = static_cast<uint16_t>(_mm512_cmp_ps_mask(value, thresholds, _CMP_LE_OQ));
  }
}

// Of a block's products.
RESMEM_AMX_INLINE void CompareBlock(const float* sums, const RoundedGroup& queries,
                                    const RoundedBlocks& keys, int64_t b, uint16_t* below) {
  const float* half_norms = keys.half_norms + b * kRoundedKeys;
  for (int64_t half = 0; half < 2; ++half) {
    const __m512 radius =
        _mm512_add_ps(_mm512_loadu_ps(queries.reaches + half * 16), _mm512_set1_ps(keys.errors[b]));
    const __m512 fixed =
        _mm512_add_ps(_mm512_loadu_ps(queries.bases + half * 16), _mm512_set1_ps(keys.rooms[b]));
    const __m512 square = _mm512_mul_ps(_mm512_mul_ps(_mm512_set1_ps(0.5f), radius), radius);
    const __m512 thresholds = _mm512_add_ps(fixed, square);
    Compare(sums + half * kSums, half_norms, thresholds, below + half * 16);
    Compare(sums + (2 + half) * kSums, half_norms + 16, thresholds, below + (2 + half) * 16);
  }
}

// Which pairs of rows have a mark, and the marks: without a branch, as those that depend on the
// data would be guessed wrong once a mark.
struct Marks {
  uint32_t pairs[kTogether * 32 + 16];
  uint32_t bits[kTogether * 32 + 16];
  int64_t count = 0;
};

RESMEM_AMX_INLINE void CollectMarks(const uint16_t* below, int64_t blocks, Marks* marks) {
  const __m512i sixteen = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  marks->count = 0;
  for (int64_t part = 0; part < 2 * blocks; ++part) {
    const __m512i bits = _mm512_load_si512(below + part * 32);
    const __m512i pairs = _mm512_add_epi32(sixteen, _mm512_set1_epi32(static_cast<int>(part * 16)));
    const __mmask16 marked = _mm512_test_epi32_mask(bits, bits);
    _mm512_storeu_si512(marks->bits + marks->count, _mm512_maskz_compress_epi32(marked, bits));
    _mm512_storeu_si512(marks->pairs + marks->count, _mm512_maskz_compress_epi32(marked, pairs));
    marks->count += std::popcount(static_cast<uint32_t>(marked));
  }
}

// Appends the cells that CompareBlock() marked in some blocks.  A place is a row of a tile: 16
// places are keys 0 .. 15 with queries 0 .. 15, the next 16 the same keys with queries 16 .. 31,
// the next two the same for keys 16 .. 31.
RESMEM_AMX_INLINE CellBelow* AppendBlocks(const float* sums, const float* half_norms,
                                          const uint16_t* below, int64_t blocks, int32_t first_key,
                                          CellBelow* out) {
  Marks marks;
  CollectMarks(below, blocks, &marks);
  for (int64_t i = 0; i < marks.count; ++i) {
    uint32_t bits = marks.bits[i];
    do {
      const uint32_t bit = static_cast<uint32_t>(std::countr_zero(bits));
      const uint32_t place = 2 * marks.pairs[i] + bit / 16, column = bit % 16;
      const int32_t key = static_cast<int32_t>(place / 32 * 16 + place % 16);
      const int32_t query = static_cast<int32_t>(place / 16 % 2 * 16 + column);
      *out++ = {half_norms[key] - sums[place * 16 + column], query, first_key + key};
    } while ((bits &= bits - 1) != 0);
  }
  return out;
}

// For each of 16 columns: at least the k-th smallest of its values, and not much more.
RESMEM_AMX_INLINE __m512 NearKthSmallest(const float* values, int64_t rows, int64_t k) {
  const __m512 infinity = _mm512_set1_ps(std::numeric_limits<float>::infinity());
  __m512 low = infinity, high = _mm512_sub_ps(_mm512_setzero_ps(), infinity);
  for (int64_t row = 0; row < rows; ++row) {
    const __m512 value = _mm512_loadu_ps(values + row * 16);
    low = _mm512_min_ps(low, value);
    high = _mm512_mask_max_ps(high, _mm512_cmp_ps_mask(value, infinity, _CMP_LT_OQ), high, value);
  }
  const __m512i enough = _mm512_set1_epi32(static_cast<int32_t>(k));
  const __m512i one = _mm512_set1_epi32(1);
  const __m512 half = _mm512_set1_ps(0.5f);
  for (int round = 0; round <= 10; ++round) {
    // The largest is looked at first: there may be fewer than k.
    const __m512 middle = round == 0 ? high : _mm512_mul_ps(_mm512_add_ps(low, high), half);
    __m512i count = _mm512_setzero_si512();
    for (int64_t row = 0; row < rows; ++row) {
      const __mmask16 below =
          _mm512_cmp_ps_mask(_mm512_loadu_ps(values + row * 16), middle, _CMP_LE_OQ);
      count = _mm512_mask_add_epi32(count, below, count, one);
    }
    const __mmask16 reached = _mm512_cmp_epi32_mask(count, enough, _MM_CMPINT_NLT);
    if (round == 0) {
      high = _mm512_mask_mov_ps(infinity, reached, high);
    } else {
      high = _mm512_mask_mov_ps(high, reached, middle);
      low = _mm512_mask_mov_ps(middle, reached, low);
    }
  }
  return high;
}

}  // namespace

RESMEM_AMX void PackRoundedKeysAmx(const float* keys, int64_t count, int64_t dim,
                                   const float* center, uint16_t* block, RoundedNorms* norms) {
  if (count < kRoundedKeys) std::fill_n(block, RoundedSize(dim), uint16_t{0});
  for (int64_t row = 0; row < count; ++row) {
    norms[row] = PackKey(keys + row * dim, dim, center, block + row * kPiece);
  }
}

RESMEM_AMX int64_t ScanRoundedAmx(const RoundedGroup& queries, const RoundedBlocks& keys,
                                  int64_t dim, CellBelow* out) {
  const TileScope tiles;
  const int64_t pieces = (dim + kPiece - 1) / kPiece;
  // A few blocks' products wait here, so that comparing runs beside the next product.
  alignas(64) float sums[kTogether][4 * kSums];
  alignas(64) uint16_t below[kTogether][64];
  Ahead ahead(keys.ahead);
  CellBelow* end = out;
  for (int64_t begin = 0; begin < keys.count; begin += kTogether) {
    const int64_t count = std::min(kTogether, keys.count - begin);
    for (int64_t i = 0; i < count; ++i) {
      MultiplyBlock(queries.group, keys.blocks + (begin + i) * RoundedSize(dim), pieces, &ahead,
                    sums[i]);
      if (i > 0) CompareBlock(sums[i - 1], queries, keys, begin + i - 1, below[i - 1]);
    }
    CompareBlock(sums[count - 1], queries, keys, begin + count - 1, below[count - 1]);
    const int64_t first = begin * kRoundedKeys;
    end = AppendBlocks(sums[0], keys.half_norms + first, below[0], count,
                       static_cast<int32_t>(first), end);
  }
  return end - out;
}

RESMEM_AMX void SmallestRoundedAmx(const RoundedGroup& queries, const RoundedBlocks& keys,
                                   int64_t dim, int64_t rank, float* smallest) {
  const TileScope tiles;
  const int64_t pieces = (dim + kPiece - 1) / kPiece;
  constexpr int64_t kHalf = kRoundedBuckets * 16;
  alignas(64) float sums[4 * kSums], least[2 * kHalf];  // of 16 queries, then of the others
  std::fill_n(least, 2 * kHalf, std::numeric_limits<float>::infinity());
  Ahead ahead(keys.ahead);
  for (int64_t b = 0; b < keys.count; ++b) {
    MultiplyBlock(queries.group, keys.blocks + b * RoundedSize(dim), pieces, &ahead, sums);
    for (int64_t row = 0; row < kRoundedKeys; ++row) {
      const int64_t key = b * kRoundedKeys + row;
      const __m512 half_norm = _mm512_set1_ps(keys.half_norms[key]);
      const float* products = sums + row / 16 * 2 * kSums + row % 16 * 16;
      for (int64_t half = 0; half < 2; ++half) {
        float* bucket = least + half * kHalf + key % kRoundedBuckets * 16;
        const __m512 value = _mm512_sub_ps(half_norm, _mm512_load_ps(products + half * kSums));
        _mm512_store_ps(bucket, _mm512_min_ps(_mm512_load_ps(bucket), value));
      }
    }
  }
  _mm512_storeu_ps(smallest, NearKthSmallest(least, kRoundedBuckets, rank));
  _mm512_storeu_ps(smallest + 16, NearKthSmallest(least + kHalf, kRoundedBuckets, rank));
}

}  // namespace resmem

#endif  // defined(__x86_64__)
