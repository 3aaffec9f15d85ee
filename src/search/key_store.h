// The keys as rows 0, 1, 2, ... whatever blocks and number formats they lie in.
// Immutable; the blocks' memory belongs to somebody else.
#ifndef RESMEM_SEARCH_KEY_STORE_H_
#define RESMEM_SEARCH_KEY_STORE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "resmem/knn_index.h"
#include "resmem/status.h"
#include "search/key_check.h"
#include "support/part_finder.h"

namespace resmem {

class KeyStore {
 public:
  // Errors: kInvalidArgument (dim, a block without data or scales, sizes beyond int64, hidden rows
  // out of order or range).
  // `checks`: of each block, asked before its keys are read; empty: none.
  static Result<KeyStore> Make(int64_t dim, std::vector<KeyBlock> blocks,
                               std::vector<int64_t> hidden,
                               std::vector<const KeyCheck*> checks = {});

  int64_t dim() const { return dim_; }
  int64_t rows() const { return parts_.end(); }
  int64_t visible_rows() const { return rows() - static_cast<int64_t>(hidden_.size()); }
  bool hidden(int64_t row) const;
  const std::vector<KeyBlock>& blocks() const { return blocks_; }  // rows in order

  // Rows [begin, begin + count) as float32, row-major without padding: in place where they lie so
  // in one block, or decoded into `scratch` (count * dim floats).
  const float* Rows(int64_t begin, int64_t count, float* scratch) const;

  // Before one row, or all, are read; see KeyCheck.
  void Require(int64_t row) const;
  void RequireAll() const;

  // A row that lies there as float32, else null.
  const float* InPlace(int64_t row) const;

  // Asks the processor to bring a row's bytes near, without waiting.
  void Prefetch(int64_t row) const;

  // A number of rows that, decoded, fits well into a core's second cache.
  int64_t RowsPerPiece() const { return std::clamp<int64_t>((1 << 16) / dim_, 1, 1024); }

 private:
  KeyStore() = default;

  int64_t dim_ = 0;
  std::vector<KeyBlock> blocks_;
  std::vector<const KeyCheck*> checks_;  // of each block, or none
  PartFinder parts_;                     // the blocks
  std::vector<int64_t> hidden_;          // ascending
};

// As the public function of this name.
Result<std::unique_ptr<KnnIndex>> MakeExactIndex(KeyStore keys);

}  // namespace resmem

#endif  // RESMEM_SEARCH_KEY_STORE_H_
