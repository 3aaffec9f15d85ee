// Approximate search over a memory: inverted files one after the other, and after them rows that
// are in none yet and are searched exactly.
#ifndef RESMEM_SEARCH_APPROXIMATE_IVF_INDEX_H_
#define RESMEM_SEARCH_APPROXIMATE_IVF_INDEX_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "resmem/knn_index.h"
#include "search/approximate/choose_effort.h"
#include "search/approximate/lists/list_search.h"
#include "search/key_store.h"

namespace resmem {

// Consecutive rows that share an inverted file.
struct IndexedPart {
  std::unique_ptr<ListSearch> search;
  std::vector<MeasuredEffort> efforts;  // by k, ascending to kMostNeighbors
};

// Rows that are searched exactly.
struct UnindexedRows {
  KeyStore keys;
  std::unique_ptr<KnnIndex> index;  // of these keys
};

// Rows are numbered through the parts in order, then through `rest`.  `exact` covers all of them,
// outlives the index, and answers what lists cannot, or not as quickly: k above kMostNeighbors,
// queries out of reach, k for which most rows' effort is `exact`.
//
// Answers as KnnIndex says, but a row may be missing; distances are true.  The same for any thread
// count, batch size and instruction set.
std::unique_ptr<KnnIndex> MakeIvfIndex(std::vector<IndexedPart> parts,
                                       std::optional<UnindexedRows> rest, const KnnIndex& exact);

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_IVF_INDEX_H_
