// Offers the rows of lists to the queries that visit them.
#ifndef RESMEM_SEARCH_APPROXIMATE_LISTS_LIST_SCAN_H_
#define RESMEM_SEARCH_APPROXIMATE_LISTS_LIST_SCAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/approximate/codes/coded_vectors.h"
#include "search/approximate/lists/candidate_pool.h"
#include "search/approximate/lists/list_choice.h"
#include "search/approximate/lists/list_search.h"

namespace resmem {

// Of questions[i], coded as queries[i], candidates go to pools[i].  One thread's.
class ListScan {
 public:
  ListScan(const ListSearch& search, std::span<const Question> questions,
           const CodedVectors& queries, int64_t first_row, std::span<CandidatePool> pools);

  // Visits of one list that stand together share a pass over it.
  void Run(std::span<const Visit> visits);

 private:
  void ScanList(std::span<const Visit> visits);
  void Offer(uint32_t query, Candidate candidate);

  const ListSearch& search_;
  const InvertedFile& file_;
  const std::span<const Question> questions_;
  const CodedVectors& queries_;
  const int64_t first_row_;
  const std::span<CandidatePool> pools_;
  std::vector<int8_t> gathered_;
  std::vector<uint8_t> decoded_;  // rows of one call
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_LISTS_LIST_SCAN_H_
