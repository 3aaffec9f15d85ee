// Exact search that reads each key once for a handful of queries: threads share the keys.
#ifndef RESMEM_SEARCH_FIRST_PASS_ROW_SCAN_H_
#define RESMEM_SEARCH_FIRST_PASS_ROW_SCAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/first_pass/candidate_list.h"
#include "search/key_store.h"
#include "search/nearest_list.h"

namespace resmem {

// One query of a search.
struct Question {
  const float* query;  // dim values
  int64_t excluded;    // a row that must not be found, or -1
  int64_t number;      // its line in the answer
};

// A first pass in float; answers[i] are the candidates for questions[i], to be decided with
// DifferenceBound::kLargestBound.  Requires k >= 1 and dim <= kMaxBoundedDim.
void FindCandidates(const KeyStore& keys, std::span<const Question> questions, int64_t k,
                    int threads, std::vector<CandidateList>* answers);

// Measures every visible row in double: right whatever the data.
void MeasureEveryRow(const KeyStore& keys, std::span<const Question> questions, int64_t k,
                     int threads, std::vector<std::vector<MeasuredRow>>* answers);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_ROW_SCAN_H_
