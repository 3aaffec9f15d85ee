// Which rows keep others out of an index: their keys lie too far away for any list.
#ifndef RESMEM_MEMORY_INDEX_FAR_KEYS_H_
#define RESMEM_MEMORY_INDEX_FAR_KEYS_H_

#include <cstdint>
#include <vector>

#include "search/key_store.h"

namespace resmem {

struct FarKeys {
  std::vector<int64_t> rows;  // ascending, at least one
  double farthest = 0;
};

// Visible rows whose keys lie more than `distance` from the middle of the others, or where there is
// none the one that lies farthest.  The middle is the median: a single key may move the mean so far
// that every other row lies far from it.  Requires a visible row.
FarKeys FindFarKeys(const KeyStore& keys, double distance);

}  // namespace resmem

#endif  // RESMEM_MEMORY_INDEX_FAR_KEYS_H_
