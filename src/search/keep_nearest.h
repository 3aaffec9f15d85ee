#ifndef RESMEM_SEARCH_KEEP_NEAREST_H_
#define RESMEM_SEARCH_KEEP_NEAREST_H_

#include <cstdint>
#include <vector>

#include "search/nearest_list.h"

namespace resmem {

// The k nearest of `rows`, nearest first; all where there are fewer.
void KeepNearest(int64_t k, std::vector<MeasuredRow>* rows);

}  // namespace resmem

#endif  // RESMEM_SEARCH_KEEP_NEAREST_H_
