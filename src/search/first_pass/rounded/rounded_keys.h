// Keys rounded to bfloat16, as the tiles of rounded_scan_kernel.h want them, and what is known of
// each: its norm and its distance from the key.
#ifndef RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_KEYS_H_
#define RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_KEYS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/first_pass/error_bound.h"
#include "search/first_pass/key_geometry.h"
#include "search/first_pass/rounded/rounded_scan_kernel.h"
#include "search/key_store.h"

namespace resmem {

// Blocks one after another.
struct RoundedView {
  RoundedBlocks blocks;
  const float* norms;   // of each key; 0 for hidden ones
  const float* errors;  // in the same order, as RoundedBound wants them
};

// Room for some blocks of kRoundedKeys keys.
class RoundedRows {
 public:
  RoundedRows(int64_t dim, int64_t rows);

  int64_t rows() const { return blocks_ * kRoundedKeys; }

  // Fills blocks from the first_block-th on with `count` keys; those that half_norms[] calls
  // infinite are hidden, and so are the places behind the last.
  void Fill(int64_t first_block, const float* keys, int64_t count, const KeyGeometry& geometry,
            const float* half_norms);

  RoundedView View(int64_t first_block, int64_t blocks) const;
  // The numbers of up to so many blocks, as far as there are any.
  std::span<const uint16_t> Values(int64_t first_block, int64_t blocks) const;
  RoundedView View() const { return View(0, blocks_); }

 private:
  struct alignas(64) Line {  // so that no row of a tile lies on two cache lines
    uint16_t values[32];
  };

  void FillBlock(int64_t b, const float* keys, int64_t count, const float* center,
                 const float* half_norms);
  uint16_t* block(int64_t b) const { return values_[0].values + b * RoundedSize(dim_); }

  int64_t dim_, blocks_;
  RoundedBound bound_;
  std::unique_ptr<Line[]> values_;
  std::vector<float> norms_, errors_, half_norms_;  // of each key
  std::vector<float> block_errors_, block_rooms_;
};

// The rows of a RowSample; empty where there are too few.
RoundedRows RoundedSample(const KeyStore& keys, const KeyGeometry& geometry);

// All keys rounded, so that not every batch has to do it.  Immutable once made; about 2.1 bytes a
// value and 13 a key.
class RoundedKeys {
 public:
  // Whether they are worth their memory: float32 keys.  Narrower ones would take twice what they
  // take now, or more.
  static bool Apply(const KeyStore& keys);

  // What they take.
  static int64_t Bytes(const KeyStore& keys);

  // Requires Apply().  Reads every key once.
  RoundedKeys(const KeyStore& keys, const KeyGeometry& geometry);

  const RoundedRows& rows() const { return rows_; }
  const RoundedRows& sample() const { return sample_; }

 private:
  RoundedRows rows_, sample_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_KEYS_H_
