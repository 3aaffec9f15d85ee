// The specification of exact search, as slow and plain as it can be: every visible row is decoded,
// measured and sorted.  Tests and benchmarks hold all indexes against it.
#ifndef RESMEM_SEARCH_EXACT_REFERENCE_SEARCH_H_
#define RESMEM_SEARCH_EXACT_REFERENCE_SEARCH_H_

#include "resmem/knn_index.h"
#include "search/key_store.h"

namespace resmem {

// The question must be sound; see CheckSearch().  Uses one thread.
Neighbors ReferenceSearch(const KeyStore& keys, MatrixView queries, const SearchOptions& options);

}  // namespace resmem

#endif  // RESMEM_SEARCH_EXACT_REFERENCE_SEARCH_H_
