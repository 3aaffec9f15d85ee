// Rows of a memory that deserve a look: likely label errors, near-duplicates, and the classes that
// the memory harms.
#ifndef RESMEM_SERVER_MEMORIES_LOOK_REVIEW_H_
#define RESMEM_SERVER_MEMORIES_LOOK_REVIEW_H_

#include <cstdint>
#include <vector>

#include "memories/answer.h"

namespace resmem::serve {

// Its neighbors, weighed as in an answer, have another label.
struct Suspect {
  int64_t row = 0;
  int32_t suggested = -1;  // the label with the most weight
  float disagreement = 0;  // weight of the neighbors with another label than its own
  float residual = 0;
};

struct Twins {
  int64_t row = 0, other = 0;
  float distance = 0;
};

// Of rows that were checked, each left out of its own answer.
struct ClassCounts {
  int64_t rows = 0, fixed = 0, harmed = 0;
};

struct Review {
  int64_t checked = 0;               // rows, evenly spread
  int64_t suspected = 0;             // rows of the largest residual that were asked for neighbors
  double duplicate_distance = 0;     // a hundredth of the median distance to the nearest row
  std::vector<Suspect> suspects;     // the most suspicious first; classification
  std::vector<Twins> twins;          // the nearest first
  std::vector<ClassCounts> classes;  // classification with logits, else empty
};

// Checks `most` rows for each of the lists; a list has at most `listed` lines.
Result<Review> ReviewRows(const MemoryState& state, int64_t most, size_t listed);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_LOOK_REVIEW_H_
