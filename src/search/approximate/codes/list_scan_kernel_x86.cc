#include "search/approximate/codes/list_scan_kernel_x86.h"

#include "support/check.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#endif

namespace resmem {

#if defined(__x86_64__)

// g++ 12 takes the "undefined" vectors of its own intrinsics for a mistake of ours (GCC bug
// 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

#define RESMEM_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
// With all of the above, so that what is shared can be inlined; tiles come with VNNI.
#define RESMEM_TILES \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,amx-tile,amx-int8")))

bool VnniAvailable() {
  static const bool available = __builtin_cpu_supports("avx512vnni") != 0;
  return available;
}

bool ByteTilesAvailable() {
  static const bool available = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kByteTiles = 1u << 25;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kByteTiles) != 0;
  }();
  return available;
}

namespace {

constexpr int64_t kVector = kBlockRows * 4;  // bytes

// The rows of one block, and where their cells go.
struct BlockRows {
  __m512 scales, norms;
  __mmask16 present;
  int32_t first;
};

RESMEM_VNNI inline BlockRows LoadBlock(const CodeBlocks& blocks, int64_t block, int64_t rows) {
  const int64_t left = rows - block * kBlockRows;
  BlockRows loaded;
  loaded.scales = _mm512_loadu_ps(blocks.scales + block * kBlockRows);
  loaded.norms = _mm512_loadu_ps(blocks.norms + block * kBlockRows);
  loaded.present = static_cast<__mmask16>(left >= kBlockRows ? 0xffff : (1u << left) - 1);
  loaded.first = static_cast<int32_t>(block * kBlockRows);
  return loaded;
}

RESMEM_VNNI inline int64_t Collect(const QueryGroup& group, int64_t query, const BlockRows& rows,
                                   __m512i dots, CellFound* out) {
  const __m512 dot =
      _mm512_cvtepi32_ps(_mm512_sub_epi32(dots, _mm512_set1_epi32(group.corrections[query])));
  const __m512 product =
      _mm512_mul_ps(_mm512_mul_ps(dot, rows.scales), _mm512_set1_ps(group.double_scales[query]));
  const __m512 value =
      _mm512_sub_ps(_mm512_add_ps(_mm512_set1_ps(group.bases[query]), rows.norms), product);
  uint32_t below = _mm512_mask_cmp_ps_mask(rows.present, value,
                                           _mm512_set1_ps(group.thresholds[query]), _CMP_LE_OQ);
  if (below == 0) return 0;
  float values[kBlockRows];
  _mm512_storeu_ps(values, value);
  int64_t found = 0;
  for (; below != 0; below &= below - 1) {
    const int lane = std::countr_zero(below);
    out[found++] = {values[lane], static_cast<int32_t>(query), rows.first + lane};
  }
  return found;
}

RESMEM_VNNI inline void AddProducts(__m512i codes, __m512i query, __m512i* sum) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(codes), "v"(query));
}

// The codes of a vector that was loaded: of eight bits each, or of four, which are two vectors.
template <bool kPacked>
RESMEM_VNNI inline __m512i Codes(__m512i loaded, int part) {
  if constexpr (!kPacked) return loaded;
  constexpr int kMaskedOr = 0xec;  // (a & c) | b
  const __m512i upper_bits = _mm512_set1_epi8(static_cast<char>(0xf0));
  return _mm512_ternarylogic_epi32(part == 0 ? _mm512_slli_epi16(loaded, 4) : loaded,
                                   _mm512_set1_epi8(8), upper_bits, kMaskedOr);
}

// kQueries x kBlocks sums stay in registers; each vector of codes is loaded once for all queries,
// each query's codes once for all blocks.
// g++ 12 keeps the sums in memory, and stores them in every round, unless the instruction is
// assembly and every loop over them is unrolled.
template <int kQueries, int kBlocks, bool kPacked>
RESMEM_VNNI int64_t ScanSomeByVnni(const QueryGroup& group, int64_t first_query,
                                   const CodeBlocks& blocks, int64_t first_block, int64_t rows,
                                   int64_t width, CellFound* out) {
  constexpr int kSums = kQueries * kBlocks;
  constexpr int kParts = kPacked ? 2 : 1;
  const int64_t bytes = kBlockRows * width / kParts;
  const uint8_t* codes = blocks.codes + first_block * bytes;
  const int8_t* queries = group.codes + first_query * width;
  __m512i sums[kSums];
#pragma GCC unroll 16
  for (int s = 0; s < kSums; ++s) sums[s] = _mm512_setzero_si512();
  constexpr int64_t kAhead = 4096;  // bytes, into the second cache; blocks follow each other
  for (int64_t place = 0; place < bytes; place += kVector) {
    if constexpr (kBlocks == 1) __builtin_prefetch(codes + place + kAhead, 0, 2);
    __m512i loaded[kBlocks];
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) {
      if constexpr (kBlocks > 1) {
        __builtin_prefetch(codes + (kBlocks + b) * bytes + place, 0, 2);
      }
      loaded[b] = _mm512_loadu_si512(codes + b * bytes + place);
    }
#pragma GCC unroll 2
    for (int part = 0; part < kParts; ++part) {
      __m512i code[kBlocks];
#pragma GCC unroll 4
      for (int b = 0; b < kBlocks; ++b) code[b] = Codes<kPacked>(loaded[b], part);
      const int64_t i = (place / kVector * kParts + part) * 4;
#pragma GCC unroll 8
      for (int q = 0; q < kQueries; ++q) {
        int32_t four = 0;
        std::memcpy(&four, queries + q * width + i, sizeof(four));
        const __m512i query = _mm512_set1_epi32(four);
#pragma GCC unroll 4
        for (int b = 0; b < kBlocks; ++b) AddProducts(code[b], query, &sums[q * kBlocks + b]);
      }
    }
  }
  alignas(64) int32_t dots[kSums][kBlockRows];
#pragma GCC unroll 16
  for (int s = 0; s < kSums; ++s) _mm512_store_si512(dots[s], sums[s]);
  int64_t found = 0;
  for (int b = 0; b < kBlocks; ++b) {
    const BlockRows loaded = LoadBlock(blocks, first_block + b, rows);
    for (int q = 0; q < kQueries; ++q) {
      found += Collect(group, first_query + q, loaded, _mm512_load_si512(dots[q * kBlocks + b]),
                       out + found);
    }
  }
  return found;
}

// All queries of a group from `query` on: eight, then the rest of them at a time.  Block by block,
// as several at once are so many streams from memory (1,000,000 x 128: 50 us a query, not 60).
template <bool kPacked, int kQueries = 8>
RESMEM_VNNI int64_t ScanBlockByVnni(const QueryGroup& group, int64_t query,
                                    const CodeBlocks& blocks, int64_t block, int64_t rows,
                                    int64_t width, CellFound* out) {
  int64_t found = 0;
  for (; query + kQueries <= group.count; query += kQueries) {
    found +=
        ScanSomeByVnni<kQueries, 1, kPacked>(group, query, blocks, block, rows, width, out + found);
  }
  if constexpr (kQueries > 1) {
    if (query < group.count) {
      found += ScanBlockByVnni<kPacked, kQueries - 1>(group, query, blocks, block, rows, width,
                                                      out + found);
    }
  }
  return found;
}

template <bool kPacked>
RESMEM_VNNI int64_t ScanAllByVnni(const QueryGroup& group, const CodeBlocks& blocks, int64_t rows,
                                  int64_t width, CellFound* out) {
  const int64_t count = (rows + kBlockRows - 1) / kBlockRows;
  int64_t found = 0, block = 0;
  // A single sum would wait for the one before it.
  for (; group.count == 1 && block + 4 <= count; block += 4) {
    found += ScanSomeByVnni<1, 4, kPacked>(group, 0, blocks, block, rows, width, out + found);
  }
  for (; block < count; ++block) {
    found += ScanBlockByVnni<kPacked>(group, 0, blocks, block, rows, width, out + found);
  }
  return found;
}

}  // namespace

int64_t ScanBlocksByVnni(const QueryGroup& group, const CodeBlocks& blocks, int64_t rows,
                         int64_t width, CellFound* out) {
  return blocks.packed ? ScanAllByVnni<true>(group, blocks, rows, width, out)
                       : ScanAllByVnni<false>(group, blocks, rows, width, out);
}

// Tile 0: 16 queries x 64 codes.  Tiles 1, 2: 64 codes x 16 rows of two blocks, as they lie in
// memory.  Tiles 3, 4: the sums.  Two blocks at a time, so that the products of one hide the
// latency of the other's.
RESMEM_TILES int64_t ScanBlocksByTiles(const QueryGroup& group, const CodeBlocks& blocks,
                                       int64_t rows, int64_t width, CellFound* out) {
  alignas(64) int32_t sums[2][kGroupQueries][kBlockRows];
  const int64_t count = (rows + kBlockRows - 1) / kBlockRows;
  const int64_t block_bytes = kBlockRows * width;
  int64_t found = 0;
  for (int64_t block = 0; block < count; block += 2) {
    const int64_t pair = std::min<int64_t>(2, count - block);
    const uint8_t* first = blocks.codes + block * block_bytes;
    const uint8_t* second = first + (pair - 1) * block_bytes;
    _tile_zero(3);
    _tile_zero(4);
    for (int64_t i = 0; i < width; i += kCodePadding) {
      _tile_loadd(0, group.codes + i, width);
      _tile_loadd(1, first + i * kBlockRows, 64);
      _tile_loadd(2, second + i * kBlockRows, 64);
      _tile_dpbsud(3, 0, 1);
      _tile_dpbsud(4, 0, 2);
    }
    _tile_stored(3, sums[0], 64);
    _tile_stored(4, sums[1], 64);
    for (int64_t b = 0; b < pair; ++b) {
      const BlockRows loaded = LoadBlock(blocks, block + b, rows);
      for (int64_t q = 0; q < group.count; ++q) {
        found += Collect(group, q, loaded, _mm512_load_si512(sums[b][q]), out + found);
      }
    }
  }
  return found;
}

#else

bool VnniAvailable() {
  return false;
}
bool ByteTilesAvailable() {
  return false;
}
int64_t ScanBlocksByVnni(const QueryGroup&, const CodeBlocks&, int64_t, int64_t, CellFound*) {
  RESMEM_DCHECK(false);
  return 0;
}
int64_t ScanBlocksByTiles(const QueryGroup&, const CodeBlocks&, int64_t, int64_t, CellFound*) {
  RESMEM_DCHECK(false);
  return 0;
}

#endif

}  // namespace resmem
