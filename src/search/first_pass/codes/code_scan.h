// Exact search over the codes of the keys for a handful of queries: threads share the keys.
#ifndef RESMEM_SEARCH_FIRST_PASS_CODES_CODE_SCAN_H_
#define RESMEM_SEARCH_FIRST_PASS_CODES_CODE_SCAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/first_pass/candidate_list.h"
#include "search/first_pass/codes/key_codes.h"
#include "search/first_pass/row_scan.h"

namespace resmem {

// A first pass over codes; answers[i] are the candidates for questions[i], to be decided with any
// bound.  A query too far from the origin gets an overflowed list.  Requires k >= 1.
//
// Threads tell each other their bounds.  Which rows beside the k nearest remain therefore depends
// on their timing; that the k nearest are among them does not.
void FindCandidatesByCodes(const KeyStore& keys, const KeyCodes& codes,
                           std::span<const Question> questions, int64_t k, int threads,
                           std::vector<CandidateList>* answers);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_CODES_CODE_SCAN_H_
