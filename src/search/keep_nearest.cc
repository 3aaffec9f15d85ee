#include "search/keep_nearest.h"

#include <algorithm>
#include <cstddef>

#include "search/count_smaller.h"

namespace resmem {
namespace {

constexpr size_t kFew = 256;

// A sort guesses every other branch wrong, and took 1.7 us for 60 rows; counting how many are
// nearer than each has none.  False, and nothing done, where rows that are kept are equally far.
bool KeepByCounting(size_t keep, std::vector<MeasuredRow>* rows) {
  double distances[kFew];
  int32_t nearer[kFew];
  MeasuredRow sorted[kFew];
  const size_t count = rows->size();
  for (size_t i = 0; i < count; ++i) distances[i] = (*rows)[i].squared_distance;
  CountSmaller(distances, static_cast<int64_t>(count), nearer);
  constexpr int64_t kNoRow = -1;
  for (size_t i = 0; i < keep; ++i) sorted[i].row = kNoRow;
  for (size_t i = 0; i < count; ++i) {
    const auto place = static_cast<size_t>(nearer[i]);
    if (place >= keep) continue;
    if (sorted[place].row != kNoRow) return false;
    sorted[place] = (*rows)[i];
  }
  std::copy_n(sorted, keep, rows->begin());
  rows->resize(keep);
  return true;
}

}  // namespace

void KeepNearest(int64_t k, std::vector<MeasuredRow>* rows) {
  const size_t keep = std::min(static_cast<size_t>(k), rows->size());
  if (rows->size() <= kFew && KeepByCounting(keep, rows)) return;
  if (rows->size() > 2 * keep) {  // fewer are quicker sorted with the others
    std::nth_element(rows->begin(), rows->begin() + static_cast<ptrdiff_t>(keep), rows->end());
    rows->resize(keep);
  }
  std::sort(rows->begin(), rows->end());
  rows->resize(keep);
}

}  // namespace resmem
