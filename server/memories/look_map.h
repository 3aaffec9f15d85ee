// The memory as points on a plane, for a person to look at.
#ifndef RESMEM_SERVER_MEMORIES_LOOK_MAP_H_
#define RESMEM_SERVER_MEMORIES_LOOK_MAP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "memories/answer.h"

namespace resmem::serve {

// How wrong the base was about a stored row.
struct RowMiss {
  float residual = 0;  // half of sum |r|: 1 - softmax(f / T) of the label; regression: sum |r|
  int64_t base = -1;   // classification: what the base says
};
// `scratch`: as many values as the memory has outputs.
RowMiss MissOf(const MemoryState& state, int64_t row, std::span<float> scratch);

// Living rows, at most so many, evenly spread over all of them.
std::vector<int64_t> SpreadRows(const MemoryState& state, int64_t most);

// Their keys, one after the other.
std::vector<float> DecodeKeys(const MemoryState& state, std::span<const int64_t> rows);

struct MapPoints {
  std::vector<uint64_t> ids;
  std::vector<float> x, y, residual;
  std::vector<int64_t> label, base;  // classification
};
// By the two directions in which the keys differ most (principal components), the same for the same
// memory.  kCorrupt where the memory is damaged.
Result<MapPoints> MapRows(const MemoryState& state, int64_t most);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_LOOK_MAP_H_
