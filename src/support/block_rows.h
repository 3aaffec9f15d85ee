// How many rows are read at once.
#ifndef RESMEM_SUPPORT_BLOCK_ROWS_H_
#define RESMEM_SUPPORT_BLOCK_ROWS_H_

#include <algorithm>
#include <cstdint>

namespace resmem {

// `asked`, or where that is 0 enough rows for an efficient batch of queries and few enough for a
// small block.  `columns`: floats of a row.
inline int64_t BlockRows(int64_t asked, int64_t columns) {
  constexpr int64_t kBytes = int64_t{64} << 20;
  constexpr int64_t kMostRows = 8192;
  if (asked > 0) return asked;
  const int64_t row_bytes = std::max<int64_t>(columns, 1) * static_cast<int64_t>(sizeof(float));
  return std::clamp<int64_t>(kBytes / row_bytes, 1, kMostRows);
}

}  // namespace resmem

#endif  // RESMEM_SUPPORT_BLOCK_ROWS_H_
