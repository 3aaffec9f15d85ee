// Vectors as 8-bit codes, in the two forms that kernels/scan_blocks.h multiplies: queries one by
// one, and rows in blocks of 16.  A code stands for scale * codes.
//
// Different vectors may be set from different threads.
#ifndef RESMEM_IVF_CODED_VECTORS_H_
#define RESMEM_IVF_CODED_VECTORS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/scan_blocks.h"

namespace resmem {

// Codes of a vector with their padding.
constexpr int64_t CodeWidth(int64_t dim) {
  return (dim + kCodePadding - 1) / kCodePadding * kCodePadding;
}
// Scanned by one call, so that what they give keeps many of the next ones out.
constexpr int64_t kRowsACall = kMostCells / kGroupQueries;

// Codes that one query is worth sharing among threads for: handing them to a thread that is still
// looking for work (support/parallel.cc) takes as long as reading about a quarter of so many.
constexpr int64_t kFewestSharedBytes = int64_t{1} << 19;

constexpr int64_t BlocksOfRows(int64_t rows) {
  return (rows + kBlockRows - 1) / kBlockRows;
}

class CodedVectors {
 public:
  CodedVectors(int64_t dim, int64_t count);

  int64_t dim() const { return dim_; }
  int64_t width() const { return width_; }
  int64_t count() const { return static_cast<int64_t>(scales_.size()); }

  // vector - center in codes.
  void Set(int64_t i, const float* vector, const float* center);

  const int8_t* codes(int64_t i) const { return codes_.data() + i * width_; }
  float scale(int64_t i) const { return scales_[static_cast<size_t>(i)]; }
  float SquaredNorm(int64_t i) const;

  // Vector i as query `place` of a group, but for its base and threshold.
  void PutScales(int64_t i, int64_t place, QueryGroup* group) const;

 private:
  int64_t dim_, width_;
  std::vector<int8_t> codes_;  // with room behind the last: groups are read whole
  std::vector<float> scales_;
  std::vector<int32_t> corrections_;
};

class CodedBlocks {
 public:
  CodedBlocks(int64_t width, int64_t blocks);

  // `codes`: width of them.
  void Set(int64_t slot, const int8_t* codes, float scale, float norm);

  const std::vector<uint8_t>& codes() const { return codes_; }
  const std::vector<float>& scales() const { return scales_; }
  const std::vector<float>& norms() const { return norms_; }
  CodeBlocks From(int64_t block) const;

 private:
  int64_t width_;
  std::vector<uint8_t> codes_;
  std::vector<float> scales_, norms_;
};

}  // namespace resmem

#endif  // RESMEM_IVF_CODED_VECTORS_H_
