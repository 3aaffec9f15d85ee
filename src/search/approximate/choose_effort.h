// How far to search for an asked recall: found by trying, on queries that the user gave or on
// rows of the memory itself.
#ifndef RESMEM_SEARCH_APPROXIMATE_CHOOSE_EFFORT_H_
#define RESMEM_SEARCH_APPROXIMATE_CHOOSE_EFFORT_H_

#include <cstdint>
#include <vector>

#include "resmem/knn_index.h"
#include "resmem/progress.h"
#include "search/approximate/lists/list_search.h"
#include "search/approximate/search_effort.h"

namespace resmem {

// What is asked of an index.
struct EffortGoal {
  double recall = 0;
  int64_t k = 0;  // the memory's own; the ladder's are served anyway
  uint64_t seed = 0;
  MatrixView queries{};  // given to try on, finite; none: rows of the memory
};

// Up to 2,000 of the queries given, or rows that can be found, each without itself, ask for their
// neighbors, and the answers are compared with those of `exact`, an index of the same rows.  Recall
// is the share of rows in an answer that are no farther than the last of the exact one.  Chosen so
// that the mean is above the goal by two standard errors; where nothing is, search is exact.
// Queries too far away for codes are searched exactly and left out; where none is left, search is
// exact, too.
Result<std::vector<MeasuredEffort>> ChooseEffort(const ListSearch& search, const KnnIndex& exact,
                                                 const EffortGoal& goal, int threads,
                                                 Progress* progress);

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_CHOOSE_EFFORT_H_
