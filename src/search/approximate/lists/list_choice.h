// Which lists of an inverted file queries visit.
#ifndef RESMEM_SEARCH_APPROXIMATE_LISTS_LIST_CHOICE_H_
#define RESMEM_SEARCH_APPROXIMATE_LISTS_LIST_CHOICE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/approximate/codes/coded_vectors.h"
#include "search/approximate/lists/candidate_pool.h"
#include "search/approximate/lists/list_search.h"
#include "search/approximate/search_effort.h"

namespace resmem {

struct Visit {
  uint32_t list;
  uint32_t query;
  float base;  // squared distance of the query from the centroid
};

// Of questions[i], coded as queries[i]; both outlive this.  A query's visits stand together.
//
// A query first visits its nearest lists, at least four and as many as hold 3 k rows.  The
// distance of the k-th best row found there, t, tells how hard it is: it goes on to its n-th
// nearest list, at distance d, where n (d / t)^8 <= effort.reach.  The eighth power was found on
// real keys (docs/decisions/approximate_search.md); that it is not right for others costs time
// only, since the reach is chosen by what is found.
//
// Where a share s < 1 of the rows met that way still lives, a query goes on until it has met
// 1 / s times as many living rows as the lists once had, and through all lists where s is below a
// half: what is left lies farther off, spread over more lists.
class ListChoice {
 public:
  ListChoice(const ListSearch& search, std::span<const Question> questions,
             const CodedVectors& queries, const SearchEffort& effort, int threads);

  // Nearest list first.
  std::vector<Visit> First();
  // The others, to be called once, after First().  kth[i]: squared distance of question i from
  // the k-th best row of its first lists; infinite where there are fewer.
  std::vector<Visit> Rest(std::span<const float> kth);

 private:
  void FindNearest(int64_t lists, const CodedVectors& queries, std::span<const uint32_t> numbers);
  // take(query, its nearest lists) for all queries; again, with more lists, where it returns that
  // these were too few.
  template <class Take>
  void ForAll(const Take& take);
  void AddVisits(std::span<const Candidate> lists, uint32_t query,
                 std::vector<Visit>* visits) const;
  size_t GoOn(std::span<Candidate> near, size_t end) const;

  const ListSearch& search_;
  const InvertedFile& file_;
  const std::span<const Question> questions_;
  const CodedVectors& queries_;
  const SearchEffort& effort_;
  const int threads_;
  std::vector<CandidatePool> near_;  // of each query
  std::vector<size_t> first_;        // how many of them First() gave
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_LISTS_LIST_CHOICE_H_
