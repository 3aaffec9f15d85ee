// Exact search for many queries at once over keys rounded to bfloat16, for processors with tiles:
// each panel of keys, rounded now or before, is compared with all queries while it is in the cache.
#ifndef RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_SCAN_H_
#define RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_SCAN_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "search/first_pass/candidate_list.h"
#include "search/first_pass/key_geometry.h"
#include "search/first_pass/rounded/rounded_keys.h"
#include "search/first_pass/row_scan.h"
#include "search/key_store.h"

namespace resmem {

// Whether the processor has tiles and the error bound holds for these keys; it holds for a query
// whose distance from the center is at most RoundedBound::kLargestNorm.
bool RoundedScanApplies(const KeyStore& keys, const KeyGeometry& geometry);

// How many queries should share a panel.
int64_t MostRoundedTogether(int64_t dim);

// As FindCandidatesOfBatch() in first_pass/batch_scan.h.  `made`: null where keys are rounded now.
void FindCandidatesByRounding(const KeyStore& keys, const KeyGeometry& geometry,
                              const RoundedKeys* made, std::span<const Question> questions,
                              int64_t k, const std::function<bool()>& stop,
                              std::vector<CandidateList>* answers);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_SCAN_H_
