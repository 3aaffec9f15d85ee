// The points that the lists of an inverted file are built around, and which are nearest to others.
//
// "Nearest" is by 8-bit codes relative to one center: not the exact order, but the same one on
// every machine, for any thread count and any cut into batches.  Immutable.
#ifndef RESMEM_SEARCH_APPROXIMATE_LISTS_CENTROIDS_H_
#define RESMEM_SEARCH_APPROXIMATE_LISTS_CENTROIDS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/approximate/codes/coded_vectors.h"
#include "search/approximate/lists/candidate_pool.h"

namespace resmem {

class Centroids {
 public:
  // `values`: count x dim, and like `center` of somebody who outlives this.
  Centroids(const float* values, int64_t count, int64_t dim, const float* center);

  int64_t count() const { return count_; }
  int64_t dim() const { return dim_; }
  const float* centroid(int64_t list) const { return values_ + list * dim_; }
  const float* center() const { return center_; }

  // Points are coded relative to the center.  Offers pools[i] the lists near point i, for all
  // points; a single one is compared with many lists on `threads` threads.
  void Nearest(const CodedVectors& points, std::span<CandidatePool> pools, int threads) const;
  // The nearest list of each of points [begin, begin + count).
  void Assign(const CodedVectors& points, int64_t begin, int64_t count, uint32_t* lists) const;

 private:
  // Points [begin, begin + count) with lists [first_list, end_list).
  template <class Threshold, class Found>
  void Scan(const CodedVectors& points, int64_t begin, int64_t count, int64_t first_list,
            int64_t end_list, const Threshold& threshold, const Found& found) const;

  const float* values_;
  int64_t count_, dim_;
  const float* center_;
  CodedBlocks blocks_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_LISTS_CENTROIDS_H_
