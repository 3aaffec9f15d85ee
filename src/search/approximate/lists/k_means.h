// Centroids for the lists of an inverted file, from a sample of the keys.
#ifndef RESMEM_SEARCH_APPROXIMATE_LISTS_K_MEANS_H_
#define RESMEM_SEARCH_APPROXIMATE_LISTS_K_MEANS_H_

#include <cstdint>
#include <vector>

#include "resmem/progress.h"
#include "resmem/status.h"
#include "search/key_store.h"

namespace resmem {

struct TrainedCentroids {
  std::vector<float> center;  // the sample's mean
  std::vector<float> values;  // lists x dim
};

// Keys farther than this from the center have no place in an inverted file.
constexpr double kLargestListedDistance = 1e15;

// A list that attracts few keys takes over a part of the one that attracts most, so that lists
// come out of about the same size.  The same bits for the same seed on any number of threads.
// Requires 1 <= lists <= keys.visible_rows().
// Errors: kBadData (a key that is not finite), kUnsupported (a key too far away), kCancelled.
Result<TrainedCentroids> TrainCentroids(const KeyStore& keys, int64_t lists, uint64_t seed,
                                        int threads, Progress* progress);

// The errors above, for the key of `row` at this squared distance from the center.
Status CheckListedDistance(int64_t row, double squared_distance);

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_LISTS_K_MEANS_H_
