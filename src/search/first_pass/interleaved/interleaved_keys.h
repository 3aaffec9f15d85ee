// 8-bit codes of the keys as interleaved_scan_kernel.h wants them: for few queries in any case,
// and for many where there are no tiles.  The same codes as in codes/key_codes.h.
#ifndef RESMEM_SEARCH_FIRST_PASS_INTERLEAVED_INTERLEAVED_KEYS_H_
#define RESMEM_SEARCH_FIRST_PASS_INTERLEAVED_INTERLEAVED_KEYS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "search/first_pass/codes/key_codes.h"
#include "search/first_pass/interleaved/interleaved_scan_kernel.h"
#include "search/first_pass/key_geometry.h"
#include "search/key_store.h"

namespace resmem {

struct InterleavedView {
  InterleavedRows rows;
  const float* errors;  // of each row
};

// Room for some blocks of kInterleavedRows rows; places that were not filled are never found.
class InterleavedBlocks {
 public:
  InterleavedBlocks(int64_t dim, int64_t rows);

  int64_t count() const { return count_; }
  int64_t bytes_per_block() const { return kInterleavedRows * InterleavedWidth(dim_); }

  void Put(int64_t row, const int8_t* codes, const RowCode& code);
  void FinishBlock(int64_t b);  // after the last Put()

  InterleavedView View(int64_t first_block, int64_t blocks) const;

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };

  int64_t dim_, count_;
  std::unique_ptr<Line[]> codes_;
  std::vector<float> scales_, norms_, errors_;  // of each row
  std::vector<float> block_errors_;
};

// All keys, and a sample.  Immutable once made; about 1.06 bytes a value and 13 a key.
class InterleavedKeys {
 public:
  // Whether they are worth making, where KeyCodes::Apply() holds: not of int8 keys, which are
  // scanned as they lie.
  static bool Apply(const KeyStore& keys);

  // Requires Apply().  Reads every key once.
  InterleavedKeys(const KeyStore& keys, const KeyGeometry& geometry);

  const std::vector<float>& origin() const { return origin_; }
  const InterleavedBlocks& blocks() const { return blocks_; }
  const InterleavedBlocks& sample() const { return sample_; }

  // Whether the next scan shall go from the last row to the first: every other one does.  Codes of
  // some megabytes do not fit into the second cache, but what was read last is still there.
  bool NextGoesBack() const { return scans_.fetch_add(1, std::memory_order_relaxed) % 2 == 1; }

 private:
  std::vector<float> origin_;
  InterleavedBlocks blocks_, sample_;
  mutable std::atomic<uint32_t> scans_{0};
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_INTERLEAVED_INTERLEAVED_KEYS_H_
