// What the 4-bit words of an inverted file stand for: 16 pairs of 8-bit codes for each two
// dimensions (pair_words.h).
#ifndef RESMEM_SEARCH_APPROXIMATE_CODES_PAIR_CODEBOOK_H_
#define RESMEM_SEARCH_APPROXIMATE_CODES_PAIR_CODEBOOK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/approximate/codes/pair_words.h"

namespace resmem {

// Immutable.
class PairCodebook {
 public:
  // By k-means for each pair of dimensions, on `residuals`: a multiple of dim values, finite.  The
  // same bits for the same seed on any number of threads.
  PairCodebook(std::span<const float> residuals, int64_t dim, uint64_t seed, int threads);

  // As DecodeWords() reads them.
  const std::vector<uint8_t>& tables() const { return tables_; }
  // As NearestWords() does.
  WordValues values() const { return {first_.data(), second_.data()}; }
  // A residual whose root mean square is 1, times this, lies among the values.
  float codes_a_unit() const { return codes_a_unit_; }

 private:
  std::vector<uint8_t> tables_;
  std::vector<float> first_, second_;  // kWords x pairs
  float codes_a_unit_ = 1;
};

// The scale by which a vector's root mean square becomes 1; 0 where it has none.
float UnitScale(const float* vector, int64_t dim);

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_CODES_PAIR_CODEBOOK_H_
