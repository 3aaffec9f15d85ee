// Search in one inverted file: the lists nearest to a query are scanned by their codes, and the
// rows that come out best are measured by their keys.
//
// Const methods may be called from any thread.
#ifndef RESMEM_SEARCH_APPROXIMATE_LISTS_LIST_SEARCH_H_
#define RESMEM_SEARCH_APPROXIMATE_LISTS_LIST_SEARCH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "search/approximate/lists/candidate_pool.h"
#include "search/approximate/lists/inverted_file.h"
#include "search/approximate/search_effort.h"
#include "search/first_pass/row_scan.h"
#include "search/key_store.h"
#include "search/nearest_list.h"
#include "support/once.h"

namespace resmem {

struct Visit;

class ListSearch {
 public:
  // `keys`: the rows of the file, of which `hidden` (ascending) are not found.
  ListSearch(InvertedFile file, KeyStore keys, const std::vector<int64_t>& hidden);

  const InvertedFile& file() const { return file_; }
  const KeyStore& keys() const { return keys_; }

  // Whether codes tell anything about the distance from this query.
  bool InReach(const float* query) const;

  // Adds to measured[i] rows near questions[i], at least effort.k where there are as many, as
  // first_row + row and in no order.  Questions must be in reach; `excluded` counts from
  // first_row, too.  On the calling thread; one question that visits many rows on `threads` of
  // them.  What was read is added to `work`, if given.
  // Errors: kCorrupt (a row number of the file), kBadData (a key that is not finite).
  Status Search(std::span<const Question> questions, const SearchEffort& effort, int64_t first_row,
                int threads, std::span<std::vector<MeasuredRow>> measured,
                SearchWork* work = nullptr) const;

  // Candidates, rows and lists, that Search() holds for a question; where rows are hidden, the
  // most.
  int64_t Candidates(const SearchEffort& effort) const;

  bool any_hidden() const { return !hidden_.empty(); }
  bool hidden(int64_t row) const { return !hidden_.empty() && hidden_[row]; }
  // Rows of a list that can be found; counted when first needed.
  int64_t living_rows(int64_t list) const;

 private:
  int64_t RowsOf(std::span<const Visit> visits) const;
  Status Measure(std::span<const Question> questions, std::span<CandidatePool> pools,
                 int64_t first_row, std::span<std::vector<MeasuredRow>> measured) const;

  InvertedFile file_;
  KeyStore keys_;
  std::vector<bool> hidden_;  // of each row; empty where none is
  mutable Once living_once_;
  mutable std::vector<uint32_t> living_rows_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_LISTS_LIST_SEARCH_H_
