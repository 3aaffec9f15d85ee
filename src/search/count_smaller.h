// The places of a few numbers in their order, without a branch that depends on them.
#ifndef RESMEM_SEARCH_COUNT_SMALLER_H_
#define RESMEM_SEARCH_COUNT_SMALLER_H_

#include <cstdint>

namespace resmem {

// smaller[i] = how many of the `count` values are below values[i].  count^2 comparisons, as many
// at once as a vector has room for: up to some hundreds of values that is quicker than sorting.
void CountSmaller(const double* values, int64_t count, int32_t* smaller);

}  // namespace resmem

#endif  // RESMEM_SEARCH_COUNT_SMALLER_H_
