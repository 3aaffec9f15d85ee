// The nearest neighbors in several beginnings of a memory, exactly, in one pass over its keys.
//
// Keys are searched part by part; what the parts find is merged.  The k nearest among the first n
// rows are the merged answers of the parts up to n, so every beginning that ends with a part costs
// nothing beside the whole, and its answers are those of a memory that holds no more.
#ifndef RESMEM_LAB_REPRODUCE_LM_PREFIX_SEARCH_H_
#define RESMEM_LAB_REPRODUCE_LM_PREFIX_SEARCH_H_

#include <functional>
#include <span>

#include "console/console.h"
#include "resmem/residual_memory.h"

namespace resmem::cli::reproduce::lm {

struct PrefixSearchOptions {
  int64_t k = 1;
  int64_t part_rows = 1 << 19;  // whose keys are held at once, as float32
  int threads = 0;
};

// `ends`: ascending numbers of rows, at most all.  Calls `found` for each of them with k neighbors
// a query; where fewer rows exist a line ends with row -1.  The memory has no deleted rows.
Status SearchPrefixes(const ResidualMemory& memory, MatrixView queries,
                      std::span<const int64_t> ends, const PrefixSearchOptions& options,
                      Console& console,
                      const std::function<void(size_t end, const Neighbors& neighbors)>& found);

}  // namespace resmem::cli::reproduce::lm

#endif  // RESMEM_LAB_REPRODUCE_LM_PREFIX_SEARCH_H_
