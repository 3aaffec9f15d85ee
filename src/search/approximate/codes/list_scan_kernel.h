// The scan that approximate search is made of: a few queries against rows of 8-bit codes.
//
// Sums of products are exact integers, and the float operations around them are rounded one by
// one: a value is the same on every instruction set and whatever else is scanned in the same call.
#ifndef RESMEM_SEARCH_APPROXIMATE_CODES_LIST_SCAN_KERNEL_H_
#define RESMEM_SEARCH_APPROXIMATE_CODES_LIST_SCAN_KERNEL_H_

#include <cstdint>

namespace resmem {

constexpr int64_t kBlockRows = 16;
constexpr int64_t kGroupQueries = 16;
constexpr int64_t kCodePadding = 64;  // rows and queries have a multiple of this many codes
constexpr int64_t kMostCodes = int64_t{1} << 15;  // of a row, so that sums fit into 32 bits
constexpr int64_t kMostCells = 1024;              // queries x rows of one call

// Rows in blocks of 16, the last one perhaps not full.  Code i of row r of a block, plus 128, is
// its byte i / 4 * 64 + r * 4 + i % 4: sixteen rows side by side in a vector, or in a tile.
struct CodeBlocks {
  const uint8_t* codes;
  const float* scales;
  const float* norms;
  bool packed = false;  // in half bytes (half_bytes.h), where ScansHalfBytes()
};

struct QueryGroup {
  int64_t count = 0;    // 1 .. 16
  const int8_t* codes;  // 16 lines; those from `count` on are read, but do not matter
  float bases[kGroupQueries];
  float double_scales[kGroupQueries];
  int32_t corrections[kGroupQueries];  // 128 * the sum of the query's codes
  float thresholds[kGroupQueries];
};

struct CellFound {
  float value;
  int32_t query;  // in the group
  int32_t row;    // from the first block's first
};

// Whether half bytes can be scanned for so many queries as they lie; otherwise they have to be
// unpacked first.
bool ScansHalfBytes(int64_t queries);

// Writes to `out` (room for kMostCells) each cell whose
//   (base + norm) - dot * scale * double_scale,  dot = the sum of products of `width` codes
// in float is at most the query's threshold, and returns how many.
// Requires group.count * rows <= kMostCells, rows rounded up to blocks.
int64_t ScanBlocks(const QueryGroup& group, const CodeBlocks& blocks, int64_t rows, int64_t width,
                   CellFound* out);

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_CODES_LIST_SCAN_KERNEL_H_
