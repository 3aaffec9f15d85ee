// First pass of exact search for many queries: a small matrix product with the comparison
// fused in, so that no distance is ever written.
//
//   panel   up to shape.keys keys, centered and packed so that a vector holds one coordinate of
//           as many keys as it has lanes; reused for all queries
//   group   up to shape.queries queries, centered and packed coordinate by coordinate
#ifndef RESMEM_SEARCH_FIRST_PASS_BATCH_SCAN_KERNEL_H_
#define RESMEM_SEARCH_FIRST_PASS_BATCH_SCAN_KERNEL_H_

#include <cstdint>

namespace resmem {

struct TileShape {
  int64_t queries;  // of a group
  int64_t keys;     // of a panel
};
constexpr int64_t kMaxTileQueries = 8;
constexpr int64_t kMaxTileCells = 512;  // queries * keys

// Dot products are summed in pieces of this many coordinates; it enters the error bound.
constexpr int64_t kDotPiece = 256;

// What suits the chosen instruction set.
TileShape ScanTileShape();

// panel[i * shape.keys + j] = keys[j * dim + i] - center[i], and 0 for j >= count.
void PackPanel(const float* keys, int64_t count, int64_t dim, const float* center, float* panel);

struct CellBelow {
  float value;
  int32_t query;  // within the group
  int32_t key;    // within the panel
};

// Writes to `out` (room for kMaxTileCells) each cell whose
//   half_norms[key] - dot(group query, panel key)
// is at most thresholds[query], and returns how many.  An infinite half norm is never found.
// The values differ between instruction sets: see first_pass/error_bound.h.
int64_t ScanTile(const float* group, const float* panel, int64_t dim, const float* half_norms,
                 const float* thresholds, CellBelow* out);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_BATCH_SCAN_KERNEL_H_
