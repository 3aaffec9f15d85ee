// Rows of a memory that deserve a look: likely label errors, near-duplicates, and the classes that
// the memory harms.
#ifndef RESMEM_SERVER_MEMORIES_LOOK_REVIEW_H_
#define RESMEM_SERVER_MEMORIES_LOOK_REVIEW_H_

#include <cstdint>
#include <vector>

#include "memories/answer.h"
#include "resmem/audit.h"
#include "resmem/progress.h"

namespace resmem::serve {

// Of rows that were checked, each left out of its own answer.
struct ClassCounts {
  int64_t rows = 0, fixed = 0, harmed = 0;
};

struct Review {
  Audit audit;  // suspects among the rows of the largest residual, twins among rows evenly spread
  std::vector<ClassCounts> classes;  // classification with logits, else empty
};

// Checks `most` rows for each of the lists; a list has at most `listed` lines.
Result<Review> ReviewRows(const MemoryState& state, int64_t most, size_t listed,
                          Progress* progress = nullptr);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_LOOK_REVIEW_H_
