// Exact search for many queries at once: each panel of keys is decoded and packed once and then
// compared with all of them while it is in the cache.
#ifndef RESMEM_SEARCH_FIRST_PASS_BATCH_SCAN_H_
#define RESMEM_SEARCH_FIRST_PASS_BATCH_SCAN_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "search/first_pass/candidate_list.h"
#include "search/first_pass/key_geometry.h"
#include "search/first_pass/row_scan.h"
#include "search/key_store.h"

namespace resmem {

// Fewer queries than this are not worth packing the keys for.
constexpr int64_t kFewestInBatch = 16;

// Whether the error bound holds for these keys at all; it holds for a query whose distance from
// the center is at most ProductBound::kLargestNorm.
bool BatchScanApplies(const KeyStore& keys, const KeyGeometry& geometry);

// A first pass in float on the calling thread; answers[i] are the candidates for questions[i], to
// be decided with any bound.  A query too far from the center gets an overflowed list.  Returns
// early, with nothing decided, once `stop` says so.
void FindCandidatesOfBatch(const KeyStore& keys, const KeyGeometry& geometry,
                           std::span<const Question> questions, int64_t k,
                           const std::function<bool()>& stop, std::vector<CandidateList>* answers);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_BATCH_SCAN_H_
