// Shares that are pooled over several networks judged on the same images.
//
// The networks' answers to one image are not independent, so intervals resample images, each with
// all its answers, and never answers.
#ifndef RESMEM_LAB_REPRODUCE_IMAGE_COUNTS_H_
#define RESMEM_LAB_REPRODUCE_IMAGE_COUNTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem::cli::reproduce {

// Of one image over all networks: errors of the base that were fixed, and that were not, and those
// of them that lie in the superclass of the truth.
struct ImageCounts {
  int64_t fixed = 0, fixed_same = 0, other = 0, other_same = 0;
};
// Adds one network's answers; `counts` has one entry an image or none yet.  The rows are all images
// in their order.
void AddAnswers(std::span<const RowResult> rows, std::span<const int32_t> coarse_of_class,
                std::vector<ImageCounts>* counts);

// Share of the fixed errors within the superclass less that of the others, over all images; the
// interval holds 95 % of the differences of `samples` resamplings of the images.
struct PooledDifference {
  ImageCounts total;
  double difference = 0;
  Interval interval;
};
PooledDifference Pool(std::span<const ImageCounts> counts, int64_t samples, uint64_t seed);

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_LAB_REPRODUCE_IMAGE_COUNTS_H_
