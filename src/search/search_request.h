// What every index does before and after its search: checks the question, prepares the answer.
#ifndef RESMEM_SEARCH_SEARCH_REQUEST_H_
#define RESMEM_SEARCH_SEARCH_REQUEST_H_

#include <cstdint>
#include <span>

#include "resmem/knn_index.h"
#include "search/nearest_list.h"

namespace resmem {

// Errors as KnnIndex::Search() promises them.
Status CheckSearch(MatrixView queries, const SearchOptions& options, int64_t dim, int64_t rows);

// All lines empty: row -1, distance infinite; `squared`: with squares.  kResourceExhausted where it
// does not fit.
Status PrepareNeighbors(int64_t queries, int64_t k, bool squared, Neighbors* out);

// Fills the line of `query`.  A distance beyond the range of float is given as the largest float,
// so that only absent neighbors are infinitely far.
void WriteNeighbors(std::span<const MeasuredRow> nearest, int64_t query, Neighbors* out);

}  // namespace resmem

#endif  // RESMEM_SEARCH_SEARCH_REQUEST_H_
