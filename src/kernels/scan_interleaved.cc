#include "kernels/scan_interleaved.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "resmem/knn_index.h"
#include "support/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace resmem {

void InterleaveRow(const int8_t* codes, int64_t dim, int64_t place, uint8_t* block) {
  for (int64_t i = 0; i < InterleavedWidth(dim); ++i) {
    const int code = i < dim ? codes[i] : 0;
    block[(i / 4 * kInterleavedRows + place) * 4 + i % 4] = static_cast<uint8_t>(code + 128);
  }
}

// The instruction multiplies unsigned by signed bytes.  With q = 256 high + low, both signed, and
// unsigned x + 128: sum of q x = 256 * sum of high (x + 128) + sum of low (x + 128) - 128 sum of q.
// Sums may wrap around on the way; the result fits, see LargestQueryCode().
int32_t HalveQuery(const int16_t* codes, int64_t dim, int8_t* halves) {
  const int64_t width = InterleavedWidth(dim);
  std::fill_n(halves, 2 * width, int8_t{0});
  uint32_t sum = 0;
  for (int64_t i = 0; i < dim; ++i) {
    const int8_t low = static_cast<int8_t>(codes[i]);
    halves[i] = static_cast<int8_t>((codes[i] - low) / 256);
    halves[width + i] = low;
    sum += static_cast<uint32_t>(codes[i]);
  }
  return static_cast<int32_t>(128u * sum);
}

#if defined(__x86_64__)

// In the intrinsics of g++ 12 themselves.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

#define RESMEM_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#define RESMEM_VNNI_INLINE RESMEM_VNNI __attribute__((always_inline)) inline

namespace {

constexpr int64_t kVectors = kInterleavedRows / 16;  // of four codes of each row of a block

RESMEM_VNNI_INLINE __m512i Broadcast(const int8_t* four) {
  int32_t bits;
  std::memcpy(&bits, four, sizeof(bits));
  return _mm512_set1_epi32(bits);
}

// _mm512_dpbusd_epi32(), which makes g++ 12 copy and store every sum in every round.
RESMEM_VNNI_INLINE void AddDots(__m512i codes, __m512i four, __m512i* sum) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(codes), "v"(four));
}

// Sums of products of all rows of kBlocks blocks, block by block, with each query.  Written without
// loops over the sums: only so does g++ 12 keep all of them in registers.
template <int kQueries, int kBlocks>
struct Products {
  static constexpr int kColumns = kBlocks * static_cast<int>(kVectors);
  static constexpr int kSums = kQueries * kColumns;
  using Columns = std::make_integer_sequence<int, kColumns>;
  using Cells = std::make_integer_sequence<int, kSums>;

  __m512i sums[kSums];  // of query 0, then of query 1

  RESMEM_VNNI_INLINE void Make(const InterleavedQuery* queries, const uint8_t* codes,
                               int64_t width) {
    __m512i high[kSums], low[kSums];
    Clear(high, low, Cells());
    for (int64_t i = 0; i < width; i += 4) {
      __m512i columns[kColumns];
      Load(codes + i * kInterleavedRows, kInterleavedRows * width, columns, Columns());
      Add(queries, i, width, columns, high, low, Cells());
    }
    Join(queries, high, low, Cells());
  }

 private:
  template <int... c>
  RESMEM_VNNI_INLINE void Clear(__m512i* high, __m512i* low, std::integer_sequence<int, c...>) {
    ((high[c] = low[c] = _mm512_setzero_si512()), ...);
  }
  template <int... c>
  RESMEM_VNNI_INLINE void Load(const uint8_t* codes, int64_t block_bytes, __m512i* columns,
                               std::integer_sequence<int, c...>) {
    ((columns[c] = LoadColumn(codes + c / kVectors * block_bytes + c % kVectors * 64)), ...);
  }
  RESMEM_VNNI_INLINE static __m512i LoadColumn(const uint8_t* place) {
    // One query waits for memory; far enough ahead to come in time, near enough to stay.
    constexpr int64_t kAhead = 4096;
    if (kQueries == 1) _mm_prefetch(reinterpret_cast<const char*>(place + kAhead), _MM_HINT_T0);
    return _mm512_load_si512(place);
  }
  template <int... s>
  RESMEM_VNNI_INLINE void Add(const InterleavedQuery* queries, int64_t i, int64_t width,
                              const __m512i* columns, __m512i* high, __m512i* low,
                              std::integer_sequence<int, s...>) {
    (AddDots(columns[s % kColumns], Broadcast(queries[s / kColumns].halves + i), &high[s]), ...);
    (AddDots(columns[s % kColumns], Broadcast(queries[s / kColumns].halves + width + i), &low[s]),
     ...);
  }
  template <int... s>
  RESMEM_VNNI_INLINE void Join(const InterleavedQuery* queries, const __m512i* high,
                               const __m512i* low, std::integer_sequence<int, s...>) {
    ((sums[s] = _mm512_sub_epi32(_mm512_add_epi32(_mm512_slli_epi32(high[s], 8), low[s]),
                                 _mm512_set1_epi32(queries[s / kColumns].correction))),
     ...);
  }
};

RESMEM_VNNI_INLINE __m512 ValueOf(__m512i sum, const InterleavedQuery& query,
                                  const InterleavedRows& rows, int64_t row) {
  const __m512 product =
      _mm512_mul_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(rows.scales + row)),
                    _mm512_set1_ps(query.double_scale));
  const __m512 norms = _mm512_add_ps(_mm512_set1_ps(query.norm), _mm512_loadu_ps(rows.norms + row));
  return _mm512_sub_ps(norms, product);
}

template <int kQueries, int kBlocks>
RESMEM_VNNI int64_t ScanBlocks(const InterleavedQuery* queries, const InterleavedRows& rows,
                               int64_t begin, int64_t end, int64_t width, CellBelow* out) {
  int64_t found = 0;
  for (int64_t block = begin; block + kBlocks <= end; block += kBlocks) {
    Products<kQueries, kBlocks> products;
    products.Make(queries, rows.codes + block * kInterleavedRows * width, width);
    for (int q = 0; q < kQueries; ++q) {
      for (int b = 0; b < kBlocks; ++b) {
        const __m512i* sums = products.sums + (q * kBlocks + b) * kVectors;
        const float radius = queries[q].reach + rows.errors[block + b];
        const __m512 threshold = _mm512_set1_ps(radius * radius);
        const int64_t row = (block + b) * kInterleavedRows;
        const __m512 first = ValueOf(sums[0], queries[q], rows, row);
        const __m512 second = ValueOf(sums[1], queries[q], rows, row + 16);
        uint32_t below = _cvtmask16_u32(_mm512_cmp_ps_mask(first, threshold, _CMP_LE_OQ)) |
                         _cvtmask16_u32(_mm512_cmp_ps_mask(second, threshold, _CMP_LE_OQ)) << 16;
        if (__builtin_expect(below == 0, 1)) continue;
        alignas(64) float values[kInterleavedRows];
        _mm512_store_ps(values, first);
        _mm512_store_ps(values + 16, second);
        do {
          const int lane = std::countr_zero(below);
          out[found++] = {values[lane], q, static_cast<int32_t>(row + lane)};
        } while ((below &= below - 1) != 0);
      }
    }
  }
  return found;
}

template <int kQueries, int kBlocks>
RESMEM_VNNI void Least(const InterleavedQuery* queries, const InterleavedRows& rows, int64_t begin,
                       int64_t end, int64_t width, float* least) {
  static_assert(kInterleavedBuckets % kInterleavedRows == 0);
  constexpr int64_t kColumns = kBlocks * kVectors;
  for (int64_t block = begin; block + kBlocks <= end; block += kBlocks) {
    Products<kQueries, kBlocks> products;
    products.Make(queries, rows.codes + block * kInterleavedRows * width, width);
    for (int q = 0; q < kQueries; ++q) {
      for (int64_t c = 0; c < kColumns; ++c) {
        const int64_t row = block * kInterleavedRows + c * 16;
        float* bucket = least + q * kInterleavedBuckets + row % kInterleavedBuckets;
        const __m512 value = ValueOf(products.sums[q * kColumns + c], queries[q], rows, row);
        _mm512_storeu_ps(bucket, _mm512_min_ps(_mm512_loadu_ps(bucket), value));
      }
    }
  }
}

// Calls body.template operator()<n>() for n = `count` queries.
template <class Body>
auto ForQueries(size_t count, const Body& body) {
  switch (count) {
    case 1:
      return body.template operator()<1>();
    case 2:
      return body.template operator()<2>();
    case 3:
      return body.template operator()<3>();
    case 4:
      return body.template operator()<4>();
    case 5:
      return body.template operator()<5>();
    default:
      RESMEM_DCHECK(count == 6);
      return body.template operator()<6>();
  }
}

}  // namespace

bool InterleavedAvailable() {
  static const bool available = __builtin_cpu_supports("avx512vnni") != 0;
  const std::string level = SimdName();
  return available && (level == "amx" || level == "avx512");
}

int64_t ScanInterleaved(std::span<const InterleavedQuery> queries, const InterleavedRows& rows,
                        int64_t dim, CellBelow* out) {
  const int64_t width = InterleavedWidth(dim);
  if (queries.size() == 1) {
    const int64_t even = rows.blocks / 2 * 2;
    const int64_t found = ScanBlocks<1, 2>(queries.data(), rows, 0, even, width, out);
    return found + ScanBlocks<1, 1>(queries.data(), rows, even, rows.blocks, width, out + found);
  }
  return ForQueries(queries.size(), [&]<int kQueries>() {
    return ScanBlocks<kQueries, 1>(queries.data(), rows, 0, rows.blocks, width, out);
  });
}

void LeastInterleaved(std::span<const InterleavedQuery> queries, const InterleavedRows& rows,
                      int64_t dim, float* least) {
  std::fill_n(least, static_cast<int64_t>(queries.size()) * kInterleavedBuckets,
              std::numeric_limits<float>::infinity());
  const int64_t width = InterleavedWidth(dim);
  if (queries.size() == 1) {
    const int64_t even = rows.blocks / 2 * 2;
    Least<1, 2>(queries.data(), rows, 0, even, width, least);
    return Least<1, 1>(queries.data(), rows, even, rows.blocks, width, least);
  }
  ForQueries(queries.size(), [&]<int kQueries>() {
    Least<kQueries, 1>(queries.data(), rows, 0, rows.blocks, width, least);
  });
}

#else

bool InterleavedAvailable() {
  return false;
}
int64_t ScanInterleaved(std::span<const InterleavedQuery>, const InterleavedRows&, int64_t,
                        CellBelow*) {
  RESMEM_DCHECK(false);
  return 0;
}
void LeastInterleaved(std::span<const InterleavedQuery>, const InterleavedRows&, int64_t, float*) {
  RESMEM_DCHECK(false);
}

#endif

}  // namespace resmem
