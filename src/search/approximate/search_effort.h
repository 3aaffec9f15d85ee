// How much of an inverted file a search reads.
#ifndef RESMEM_SEARCH_APPROXIMATE_SEARCH_EFFORT_H_
#define RESMEM_SEARCH_APPROXIMATE_SEARCH_EFFORT_H_

#include <algorithm>
#include <cstdint>

namespace resmem {

// For up to k neighbors.
struct SearchEffort {
  int64_t k = 0;
  // How far a query goes on beyond its first lists: lists/list_choice.h.  0: to its `lists`
  // nearest.
  double reach = 0;
  // Otherwise those that queries read on average where it was tried; no answer depends on them.
  int64_t lists = 0;
  int64_t depth = 0;  // rows measured by their keys, >= k
};

// The least effort that was seen to suffice, and what it gave.
struct MeasuredEffort {
  SearchEffort effort;
  double recall = 0;   // mean over the queries tried
  bool exact = false;  // so many lists that scanning all keys is quicker
};

// What searches read.
struct SearchWork {
  int64_t lists = 0, rows = 0;
};

// Effort is chosen for these k and for the memory's own; a search takes the first that is not
// below its k.
inline constexpr int64_t kEffortLadder[] = {16, 64, 256, 1024};
inline constexpr int64_t kMostNeighbors = 1024;  // of a search by lists
inline constexpr int64_t kMostDepth = 16;        // times k

// Rows that are measured at most.  Fewer bits tell rows apart less well, but to measure thousands
// takes longer than they save.
constexpr int64_t MostDepth(int64_t k, int code_bits) {
  return code_bits == 8 ? 4 * k : std::min(kMostDepth * k, std::max<int64_t>(4 * k, 2048));
}

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_SEARCH_EFFORT_H_
