// Vectors as codes: queries one by one, and rows in blocks of 16, as list_scan_kernel.h
// multiplies them.  A code stands for scale * codes.
//
// Different vectors may be set from different threads.
#ifndef RESMEM_SEARCH_APPROXIMATE_CODES_CODED_VECTORS_H_
#define RESMEM_SEARCH_APPROXIMATE_CODES_CODED_VECTORS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/approximate/codes/list_scan_kernel.h"

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

// Codes as blocks hold them: each plus 128.
void CodesToBytes(const int8_t* codes, int64_t count, uint8_t* bytes);

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
  // Rows of `row_bytes` bytes, a multiple of 4, all of them `empty` until they are set.
  CodedBlocks(int64_t row_bytes, int64_t blocks, uint8_t empty);

  void Set(int64_t slot, const uint8_t* bytes, float scale, float norm);

  const std::vector<uint8_t>& codes() const { return codes_; }
  const std::vector<float>& scales() const { return scales_; }
  const std::vector<float>& norms() const { return norms_; }
  CodeBlocks From(int64_t block) const;

 private:
  int64_t row_bytes_;
  std::vector<uint8_t> codes_;
  std::vector<float> scales_, norms_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_CODES_CODED_VECTORS_H_
