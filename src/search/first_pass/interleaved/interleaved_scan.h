// Exact search over interleaved codes: a handful of queries whose threads share the keys, or many
// on one thread.
#ifndef RESMEM_SEARCH_FIRST_PASS_INTERLEAVED_INTERLEAVED_SCAN_H_
#define RESMEM_SEARCH_FIRST_PASS_INTERLEAVED_INTERLEAVED_SCAN_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "search/first_pass/candidate_list.h"
#include "search/first_pass/interleaved/interleaved_keys.h"
#include "search/first_pass/row_scan.h"

namespace resmem {

// A first pass over codes; answers[i] are the candidates for questions[i], to be decided with any
// bound.  A query too far from the origin gets an overflowed list.  Returns early, with nothing
// decided, once `stop` says so.  Requires k >= 1.
void FindCandidatesInterleaved(const KeyStore& keys, const InterleavedKeys& codes,
                               std::span<const Question> questions, int64_t k, int threads,
                               const std::function<bool()>& stop,
                               std::vector<CandidateList>* answers);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_INTERLEAVED_INTERLEAVED_SCAN_H_
