#include "search/first_pass/interleaved/interleaved_scan_kernel.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "resmem/knn_index.h"
#include "resmem_program/simd.h"
#include "support/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace resmem {

void InterleaveRow(const int8_t* codes, int64_t dim, int64_t place, uint8_t* block) {
  const auto put = [&](int64_t i, uint32_t four) {
    four ^= 0x80808080u;  // 128 more, in each byte
    std::memcpy(block + (i / 4 * kInterleavedRows + place) * 4, &four, sizeof(four));
  };
  int64_t i = 0;
  for (; i + 4 <= dim; i += 4) {
    uint32_t four;
    std::memcpy(&four, codes + i, sizeof(four));
    put(i, four);
  }
  if (i == dim) return;
  uint32_t last = 0;
  std::memcpy(&last, codes + i, static_cast<size_t>(dim - i));
  put(i, last);
}

// The instruction multiplies unsigned by signed bytes.  With q = 256 high + low, both signed, and
// unsigned x + 128: sum of q x = 256 * sum of high (x + 128) + sum of low (x + 128) - 128 sum of q.
// Likewise sum of high x = sum of high (x + 128) - 128 sum of high.
// Sums may wrap around on the way; the result fits, see LargestQueryCode().
HalfCorrections HalveQuery(const int16_t* codes, int64_t dim, int8_t* halves) {
  const int64_t width = InterleavedWidth(dim);
  std::fill_n(halves, 2 * width, int8_t{0});
  uint32_t sum = 0, upper = 0;
  for (int64_t i = 0; i < dim; ++i) {
    const int8_t low = static_cast<int8_t>(codes[i]);
    halves[i] = static_cast<int8_t>((codes[i] - low) / 256);
    halves[width + i] = low;
    sum += static_cast<uint32_t>(codes[i]);
    upper += static_cast<uint32_t>(halves[i]);
  }
  return {static_cast<int32_t>(128u * sum), static_cast<int32_t>(128u * upper)};
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

// Sums of products of the rows of kBlocks blocks with one half of each query.  Written without
// loops over the sums: only so does g++ 12 keep all of them in registers.
template <int kQueries, int kBlocks>
struct HalfProducts {
  static constexpr int kColumns = kBlocks * static_cast<int>(kVectors);
  static constexpr int kSums = kQueries * kColumns;
  // A product waits for the one before it in its sum, so that few sums are made in several parts.
  static constexpr int kParts = kSums <= 2 ? 4 : kSums <= 4 ? 2 : 1;
  using Columns = std::make_integer_sequence<int, kColumns>;
  using Cells = std::make_integer_sequence<int, kSums>;
  using Parts = std::make_integer_sequence<int, kParts>;

  __m512i sums[kSums];  // of query 0, then of query 1

  // The half that begins `offset` bytes behind the upper one.
  RESMEM_VNNI_INLINE void Make(const InterleavedQuery* queries, int64_t offset,
                               const uint8_t* codes, int64_t width) {
    __m512i parts[kParts * kSums];
    Clear(parts, std::make_integer_sequence<int, kParts * kSums>());
    int64_t i = 0;
    for (; i + 4 * kParts <= width; i += 4 * kParts) {
      AddSteps(queries, offset, codes, width, i, parts, Parts());
    }
    for (; i < width; i += 4) {
      AddSteps(queries, offset, codes, width, i, parts, std::integer_sequence<int, 0>());
    }
    AddUp(parts, Cells());
  }

 private:
  template <int... p>
  RESMEM_VNNI_INLINE void Clear(__m512i* parts, std::integer_sequence<int, p...>) {
    ((parts[p] = _mm512_setzero_si512()), ...);
  }
  template <int... p>
  RESMEM_VNNI_INLINE void AddSteps(const InterleavedQuery* queries, int64_t offset,
                                   const uint8_t* codes, int64_t width, int64_t i, __m512i* parts,
                                   std::integer_sequence<int, p...>) {
    (AddStep(queries, offset, codes, width, i + 4 * p, parts + p * kSums), ...);
  }
  RESMEM_VNNI_INLINE void AddStep(const InterleavedQuery* queries, int64_t offset,
                                  const uint8_t* codes, int64_t width, int64_t i, __m512i* part) {
    __m512i columns[kColumns];
    Load(codes + i * kInterleavedRows, kInterleavedRows * width, columns, Columns());
    Add(queries, offset + i, columns, part, Cells());
  }
  template <int... c>
  RESMEM_VNNI_INLINE void Load(const uint8_t* codes, int64_t block_bytes, __m512i* columns,
                               std::integer_sequence<int, c...>) {
    ((columns[c] = LoadColumn(codes + c / kVectors * block_bytes + c % kVectors * 64)), ...);
  }
  RESMEM_VNNI_INLINE static __m512i LoadColumn(const uint8_t* place) {
    // One query waits for memory; far enough ahead to come in time, near enough to stay.
    constexpr int64_t kAhead = 4096;
    if (kQueries == 1 && kBlocks > 1) {
      _mm_prefetch(reinterpret_cast<const char*>(place + kAhead), _MM_HINT_T0);
    }
    return _mm512_load_si512(place);
  }
  template <int... s>
  RESMEM_VNNI_INLINE void Add(const InterleavedQuery* queries, int64_t i, const __m512i* columns,
                              __m512i* part, std::integer_sequence<int, s...>) {
    (AddDots(columns[s % kColumns], Broadcast(queries[s / kColumns].halves + i), &part[s]), ...);
  }
  template <int... s>
  RESMEM_VNNI_INLINE void AddUp(const __m512i* parts, std::integer_sequence<int, s...>) {
    ((sums[s] = Total(parts + s, Parts())), ...);
  }
  template <int... p>
  RESMEM_VNNI_INLINE static __m512i Total(const __m512i* parts, std::integer_sequence<int, p...>) {
    __m512i total = _mm512_setzero_si512();
    ((total = _mm512_add_epi32(total, parts[p * kSums])), ...);
    return total;
  }
};

// Sums of products of sixteen rows, whose first codes are at `codes`, with the lower half of a
// query.
RESMEM_VNNI_INLINE __m512i LowerProducts(const InterleavedQuery& query, int64_t width,
                                         const uint8_t* codes) {
  const int8_t* half = query.halves + width;
  __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;  // no product waits for the one before
  int64_t i = 0;
  for (; i + 16 <= width; i += 16) {
    const uint8_t* at = codes + i * kInterleavedRows;
    constexpr int64_t kStep = 4 * kInterleavedRows;
    AddDots(_mm512_load_si512(at), Broadcast(half + i), &a);
    AddDots(_mm512_load_si512(at + kStep), Broadcast(half + i + 4), &b);
    AddDots(_mm512_load_si512(at + 2 * kStep), Broadcast(half + i + 8), &c);
    AddDots(_mm512_load_si512(at + 3 * kStep), Broadcast(half + i + 12), &d);
  }
  for (; i < width; i += 4) {
    AddDots(_mm512_load_si512(codes + i * kInterleavedRows), Broadcast(half + i), &a);
  }
  return _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
}

RESMEM_VNNI_INLINE __m512i JoinHalves(__m512i upper, __m512i lower) {
  return _mm512_add_epi32(_mm512_slli_epi32(upper, 8), lower);
}

RESMEM_VNNI_INLINE __m512 ValueOf(__m512i sum, const InterleavedCode& code,
                                  const InterleavedRows& rows, int64_t row) {
  const __m512i corrected = _mm512_sub_epi32(sum, _mm512_set1_epi32(code.correction));
  const __m512 product = _mm512_mul_ps(
      _mm512_mul_ps(_mm512_cvtepi32_ps(corrected), _mm512_loadu_ps(rows.scales + row)),
      _mm512_set1_ps(code.double_scale));
  const __m512 norms = _mm512_add_ps(_mm512_set1_ps(code.norm), _mm512_loadu_ps(rows.norms + row));
  return _mm512_sub_ps(norms, product);
}

// A bit for each of the sixteen rows of a vector of a block that is within reach.
RESMEM_VNNI_INLINE uint32_t Below(__m512 values, const InterleavedCode& code,
                                  const InterleavedRows& rows, int64_t block) {
  const float radius = code.reach + rows.errors[block];
  return _cvtmask16_u32(_mm512_cmp_ps_mask(values, _mm512_set1_ps(radius * radius), _CMP_LE_OQ));
}

// Vectors of sixteen rows of which some are within reach by the rough code.  They are collected,
// and looked at together: each one by itself would stop the scan for a branch that nobody can
// predict, and for sums that wait for each other.
class RoughlyFound {
 public:
  static constexpr int kRoom = 64;

  int size() const { return size_; }
  RESMEM_VNNI_INLINE void Add(__m512i upper, uint32_t below, int query, int64_t vector) {
    upper_[size_] = upper;
    below_[size_] = below;
    query_[size_] = query;
    vector_[size_] = vector;
    size_ += below != 0 ? 1 : 0;
  }

  // The cells among them that are within reach by the fine code, too.
  RESMEM_VNNI int64_t Flush(const InterleavedQuery* queries, const InterleavedRows& rows,
                            int64_t width, CellBelow* out) {
    for (int i = 0; i < size_; ++i) {
      const InterleavedQuery& query = queries[query_[i]];
      const int64_t block = vector_[i] / kVectors;
      const __m512i lower = LowerProducts(
          query, width, rows.codes + block * kInterleavedRows * width + vector_[i] % kVectors * 64);
      const __m512 value = ValueOf(JoinHalves(upper_[i], lower), query.fine, rows, vector_[i] * 16);
      _mm512_store_ps(values_[i], value);
      below_[i] &= Below(value, query.fine, rows, block);
    }
    int64_t found = 0;
    for (int i = 0; i < size_; ++i) {
      for (uint32_t below = below_[i]; below != 0; below &= below - 1) {
        const int lane = std::countr_zero(below);
        out[found++] = {values_[i][lane], query_[i], static_cast<int32_t>(vector_[i] * 16 + lane)};
      }
    }
    size_ = 0;
    return found;
  }

 private:
  int size_ = 0;
  __m512i upper_[kRoom];  // sums of the upper half
  alignas(64) float values_[kRoom][16];
  uint32_t below_[kRoom];
  int query_[kRoom];
  int64_t vector_[kRoom];
};

template <int kQueries, int kBlocks>
RESMEM_VNNI int64_t ScanBlocks(const InterleavedQuery* queries, const InterleavedRows& rows,
                               int64_t begin, int64_t end, int64_t width, CellBelow* out) {
  constexpr int kColumns = kBlocks * static_cast<int>(kVectors), kSums = kQueries * kColumns;
  RoughlyFound roughly;
  int64_t found = 0;
  for (int64_t block = begin; block + kBlocks <= end; block += kBlocks) {
    HalfProducts<kQueries, kBlocks> upper;
    upper.Make(queries, 0, rows.codes + block * kInterleavedRows * width, width);
    uint32_t below[kSums];
#pragma GCC unroll 12
    for (int s = 0; s < kSums; ++s) {
      const InterleavedCode& rough = queries[s / kColumns].rough;
      const int64_t vector = block * kVectors + s % kColumns;
      below[s] =
          Below(ValueOf(upper.sums[s], rough, rows, vector * 16), rough, rows, vector / kVectors);
    }
#pragma GCC unroll 12
    for (int s = 0; s < kSums; ++s) {
      // One query finds so few that it is quicker to guess wrong than to store what nobody wants.
      if (kQueries == 1 && below[s] == 0) continue;
      roughly.Add(upper.sums[s], below[s], s / kColumns, block * kVectors + s % kColumns);
    }
    if (roughly.size() + kSums >= RoughlyFound::kRoom) {
      found += roughly.Flush(queries, rows, width, out + found);
    }
  }
  return found + roughly.Flush(queries, rows, width, out + found);
}

template <int kQueries>
RESMEM_VNNI void Least(const InterleavedQuery* queries, const InterleavedRows& rows, int64_t width,
                       float* least) {
  static_assert(kInterleavedBuckets % kInterleavedRows == 0);
  for (int64_t block = 0; block < rows.blocks; ++block) {
    const uint8_t* const codes = rows.codes + block * kInterleavedRows * width;
    HalfProducts<kQueries, 1> upper, lower;
    upper.Make(queries, 0, codes, width);
    lower.Make(queries, width, codes, width);
    for (int q = 0; q < kQueries; ++q) {
      for (int64_t c = 0; c < kVectors; ++c) {
        const int64_t row = block * kInterleavedRows + c * 16;
        float* bucket = least + q * kInterleavedBuckets + row % kInterleavedBuckets;
        const __m512i sum = JoinHalves(upper.sums[q * kVectors + c], lower.sums[q * kVectors + c]);
        const __m512 value = ValueOf(sum, queries[q].fine, rows, row);
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
    constexpr int kTogether = 4;  // as many sums as hide the latency of a product
    const int64_t whole = rows.blocks / kTogether * kTogether;
    const int64_t found = ScanBlocks<1, kTogether>(queries.data(), rows, 0, whole, width, out);
    return found + ScanBlocks<1, 1>(queries.data(), rows, whole, rows.blocks, width, out + found);
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
  ForQueries(queries.size(),
             [&]<int kQueries>() { Least<kQueries>(queries.data(), rows, width, least); });
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
