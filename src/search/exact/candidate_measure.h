// The last step of exact search: candidates are measured in double, of many the likeliest first.
#ifndef RESMEM_SEARCH_EXACT_CANDIDATE_MEASURE_H_
#define RESMEM_SEARCH_EXACT_CANDIDATE_MEASURE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/first_pass/candidate_list.h"
#include "search/key_store.h"
#include "search/nearest_list.h"
#include "search/row_measure.h"

namespace resmem {

// What the bounds of a CandidateList are bounds of.
enum class BoundedBy {
  kDistance,         // the distance
  kSquaredDistance,  // its square
  kShiftedSquare,    // its square, less something that only the query determines
};

// Keeps its memory from query to query.  With several threads, these share the rows of a query.
class CandidateMeasure {
 public:
  CandidateMeasure(const KeyStore& keys, int64_t k, int threads = 1)
      : k_(static_cast<size_t>(k)),
        dim_(keys.dim()),
        measures_(static_cast<size_t>(threads), RowMeasure(keys)) {}

  // The k nearest of the candidates of a list that has decided; valid until the next call.
  std::span<const MeasuredRow> Nearest(const float* query, const CandidateList& candidates,
                                       BoundedBy bounded_by);

 private:
  struct Candidate {
    float lower;
    int64_t row;
  };
  void Measure(const float* query, std::span<const Candidate> candidates);
  void MeasureLikeliestFirst(const float* query, BoundedBy bounded_by);

  const size_t k_;
  const int64_t dim_;
  std::vector<RowMeasure> measures_;  // of each thread
  std::vector<Candidate> candidates_;
  std::vector<MeasuredRow> measured_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_EXACT_CANDIDATE_MEASURE_H_
