// The codes of one row, in each form that an inverted file holds: 8 bits a value, 4 bits, or words
// of 4 bits a pair of values.  Whatever the form, it stands for scale * codes.
#ifndef RESMEM_SEARCH_APPROXIMATE_CODES_ROW_CODER_H_
#define RESMEM_SEARCH_APPROXIMATE_CODES_ROW_CODER_H_

#include <cstdint>
#include <vector>

#include "search/approximate/codes/pair_codebook.h"

namespace resmem {

// For one thread; keeps its memory from row to row.
class RowCoder {
 public:
  // Of 8 or 4 bits a value; of 2 by `codebook`, which outlives this.
  RowCoder(int64_t dim, int code_bits, const PairCodebook* codebook = nullptr);

  void Code(const float* residual);

  float scale() const { return scale_; }
  const int8_t* codes() const { return codes_.data(); }     // CodeWidth(dim) of them
  const uint8_t* stored() const { return stored_.data(); }  // the row's bytes in a block

 private:
  void CodeWords(const float* residual);

  int64_t dim_;
  int code_bits_;
  const PairCodebook* codebook_;
  float scale_ = 0;
  std::vector<int8_t> codes_;
  std::vector<uint8_t> stored_;
  std::vector<float> first_, second_;  // of each pair
  std::vector<uint8_t> words_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_CODES_ROW_CODER_H_
