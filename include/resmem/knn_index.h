// Nearest-neighbor search: the k rows whose keys have the smallest L2 distance to a query.
//
// The answer is defined, not approximated: distances are taken between the keys as
// stored (float16 and int8 keys are decoded to float32 first), summed in double in one
// fixed order, and sorted by (distance, row).  It therefore does not depend on the
// thread count, the batch size or the instruction set.
#ifndef RESMEM_KNN_INDEX_H_
#define RESMEM_KNN_INDEX_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "resmem/matrix_view.h"
#include "resmem/progress.h"
#include "resmem/status.h"

namespace resmem {

enum class KeyType { kFloat32, kFloat16, kInt8, kInt4 };
const char* KeyTypeName(KeyType type);  // "float32", "float16", "int8", "int4"

// Keys owned by the caller, row-major without padding.
// int8: value = scale[row] * stored, symmetric.
// int4: two values a byte, value = center + scale[row] * (stored - 7.5); docs/memory_format.md.
struct KeyBlock {
  KeyType type = KeyType::kFloat32;
  const void* data = nullptr;
  const float* scales = nullptr;  // kInt8 and kInt4
  int64_t rows = 0;
  const float* center = nullptr;  // kInt4 only: dim values
};

// queries x k, each query's neighbors in order.  If fewer than k rows exist or are left after
// exclusion, the rest of a line has row -1 and an infinite distance.
struct Neighbors {
  int64_t queries = 0;
  int64_t k = 0;
  std::vector<int64_t> rows;
  std::vector<float> distances;  // plain L2, not squared; infinite only where the row is -1
  // Empty unless asked for: the squares, as rows are ordered.  Two of them may differ where the
  // distances are the same float.  For merging (merge_neighbors.h).
  std::vector<double> squared{};

  std::span<const int64_t> rows_of(int64_t q) const {
    return {rows.data() + q * k, static_cast<size_t>(k)};
  }
  std::span<const float> distances_of(int64_t q) const {
    return {distances.data() + q * k, static_cast<size_t>(k)};
  }
};

struct SearchOptions {
  int64_t k = 1;    // >= 1; more than there are rows means all of them
  int threads = 0;  // 0: all processors
  // Leave-one-out: query q never finds row exclude[q] (-1: nothing).  Empty: off.
  std::span<const int64_t> exclude;
  bool squared = false;  // also fill Neighbors::squared
  Progress* progress = nullptr;
};

// Immutable: const methods need no lock on any number of threads.
class KnnIndex {
 public:
  virtual ~KnnIndex() = default;
  virtual int64_t rows() const = 0;
  virtual int64_t dim() const = 0;
  // Errors: kInvalidArgument (k, exclude), kBadData (another dim; a value of a query or of a key
  // that is not finite).
  virtual Status Search(MatrixView queries, const SearchOptions& options, Neighbors* out) const = 0;
  // Can a true neighbor be missing from answers of k?
  virtual bool Approximate(int64_t /*k*/) const { return false; }
};

// Scans every key.  Rows are numbered through the blocks in order; those in `hidden`
// (sorted, without repetition) are never found but keep their numbers.  The blocks'
// memory must outlive the index.  No key is read before the first search.
Result<std::unique_ptr<KnnIndex>> MakeExactIndex(int64_t dim, std::vector<KeyBlock> blocks,
                                                 std::vector<int64_t> hidden = {});

}  // namespace resmem

#endif  // RESMEM_KNN_INDEX_H_
