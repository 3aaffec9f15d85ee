#include "search/approximate/codes/list_scan_kernel.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/approximate/codes/list_scan_kernel.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/amx.h"
#include "kernels/simd_level.h"
#include "search/approximate/codes/list_scan_kernel_x86.h"
#include "support/check.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kBytesOfVector = kBlockRows * 4;  // four codes of each row of a block

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR

// Sixteen bits a code: the even bytes of a lane of 32 bits, then its odd ones, each pair
// multiplied and added in one instruction.  (Elsewhere the operation of this name adds other
// pairs.)
void DotBlock(const int8_t* query, const uint8_t* codes, int64_t width, int32_t* dots) {
  const hn::CappedTag<int32_t, kBlockRows> d;
  const hn::Repartition<int16_t, decltype(d)> shorts;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto low_bytes = hn::Set(d, 0x00ff00ff);
  for (int64_t row = 0; row < kBlockRows; row += lanes) {
    auto even_sum = hn::Zero(d), odd_sum = hn::Zero(d), unused = hn::Zero(d);
    for (int64_t i = 0; i < width; i += 4) {
      const auto four =
          hn::LoadU(d, reinterpret_cast<const int32_t*>(codes + i * kBlockRows + row * 4));
      const auto pair = [&](int64_t low, int64_t high) HWY_ATTR {
        const uint32_t bits = static_cast<uint16_t>(query[i + low]) |
                              static_cast<uint32_t>(static_cast<uint16_t>(query[i + high])) << 16;
        return hn::BitCast(shorts, hn::Set(d, static_cast<int32_t>(bits)));
      };
      const auto even = hn::BitCast(shorts, hn::And(four, low_bytes));
      const auto odd = hn::BitCast(shorts, hn::And(hn::ShiftRight<8>(four), low_bytes));
      even_sum = hn::ReorderWidenMulAccumulate(d, even, pair(0, 2), even_sum, unused);
      odd_sum = hn::ReorderWidenMulAccumulate(d, odd, pair(1, 3), odd_sum, unused);
    }
    hn::StoreU(hn::Add(even_sum, odd_sum), d, dots + row);
  }
}

#else

void DotBlock(const int8_t* query, const uint8_t* codes, int64_t width, int32_t* dots) {
  std::memset(dots, 0, sizeof(*dots) * kBlockRows);
  for (int64_t i = 0; i < width; i += 4) {
    const uint8_t* vector = codes + i / 4 * kBytesOfVector;
    for (int64_t row = 0; row < kBlockRows; ++row) {
      for (int64_t j = 0; j < 4; ++j) dots[row] += int32_t{query[i + j]} * vector[row * 4 + j];
    }
  }
}

#endif

bool ScansHalfBytesHere() {
  return HWY_TARGET == HWY_AVX3 && VnniAvailable();
}

int64_t ScanBlocksHere(const QueryGroup& group, const CodeBlocks& blocks, int64_t rows,
                       int64_t width, CellFound* out) {
#if HWY_TARGET == HWY_AVX3
  if (VnniAvailable()) return ScanBlocksByVnni(group, blocks, rows, width, out);
#endif
  int64_t found = 0;
  for (int64_t begin = 0; begin < rows; begin += kBlockRows) {
    const int64_t present = rows - begin < kBlockRows ? rows - begin : kBlockRows;
    for (int64_t q = 0; q < group.count; ++q) {
      int32_t dots[kBlockRows];
      DotBlock(group.codes + q * width, blocks.codes + begin * width, width, dots);
      for (int64_t row = 0; row < present; ++row) {
        const float dot = static_cast<float>(dots[row] - group.corrections[q]);
        const float product = dot * blocks.scales[begin + row] * group.double_scales[q];
        const float value = (group.bases[q] + blocks.norms[begin + row]) - product;
        out[found] = {value, static_cast<int32_t>(q), static_cast<int32_t>(begin + row)};
        found += value <= group.thresholds[q] ? 1 : 0;
      }
    }
  }
  return found;
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(ScanBlocksHere);
HWY_EXPORT(ScansHalfBytesHere);

namespace {

// A tile costs the same for one query as for sixteen.
constexpr int64_t kFewestForTiles = 4;

bool ByTiles(int64_t queries) {
  return queries >= kFewestForTiles && AmxActive() && ByteTilesAvailable();
}

}  // namespace

bool ScansHalfBytes(int64_t queries) {
  return !ByTiles(queries) && RESMEM_DISPATCH(ScansHalfBytesHere)();
}

int64_t ScanBlocks(const QueryGroup& group, const CodeBlocks& blocks, int64_t rows, int64_t width,
                   CellFound* out) {
  RESMEM_DCHECK(!blocks.packed || ScansHalfBytes(group.count));
  if (ByTiles(group.count)) {
    return ScanBlocksByTiles(group, blocks, rows, width, out);
  }
  return RESMEM_DISPATCH(ScanBlocksHere)(group, blocks, rows, width, out);
}

}  // namespace resmem
#endif  // HWY_ONCE
