// What an edit would change, before it is made: queries asked again of the memory as it would be.
#ifndef RESMEM_SERVER_MEMORIES_PREVIEW_H_
#define RESMEM_SERVER_MEMORIES_PREVIEW_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "memories/row_set.h"

namespace resmem::serve {

struct ChangedAnswer {
  size_t query = 0;                 // among those given
  int64_t before = -1, after = -1;  // classification: the answer
  float most = 0;                   // largest difference of a score
};

// In the order of the queries.  Classification: whose answer changes; regression: by more than 0.
using Preview = std::vector<ChangedAnswer>;

// `learn` may have no rows, `forget` no ids.  Queries whose nearest rows the edit does not touch
// are not asked again.  For the others, only rows that can be among their neighbors enter a memory
// in RAM, so the cost is that of the queries and not of the memory; search is exact. Where rows
// alone do not make such a memory, because it is frozen or its keys are whitened by all of them,
// the memory at `path` is copied into RAM. Errors: kNotFound (an id), kUnsupported (a copy of more
// than kMostCopiedBytes).
inline constexpr int64_t kMostCopiedBytes = int64_t{1} << 30;
Result<Preview> PreviewEdit(const MemoryState& state, const std::string& path, MatrixView keys,
                            MatrixView logits, const RowSet& learn,
                            std::span<const uint64_t> forget);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_PREVIEW_H_
