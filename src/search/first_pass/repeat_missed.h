// A first pass may start from bounds that are guessed; where a guess was too low, it is repeated
// without.
#ifndef RESMEM_SEARCH_FIRST_PASS_REPEAT_MISSED_H_
#define RESMEM_SEARCH_FIRST_PASS_REPEAT_MISSED_H_

#include <span>
#include <utility>
#include <vector>

#include "search/first_pass/candidate_list.h"
#include "search/first_pass/row_scan.h"

namespace resmem {

// search(questions, whether to guess, &lists) fills a list for each question.
template <class Search>
void SearchAndRepeatMissed(std::span<const Question> questions, const Search& search,
                           std::vector<CandidateList>* answers) {
  search(questions, /*guess=*/true, answers);
  std::vector<size_t> missed;
  std::vector<Question> again;
  for (size_t q = 0; q < questions.size(); ++q) {
    if (!(*answers)[q].bound_was_too_low()) continue;
    missed.push_back(q);
    again.push_back(questions[q]);
  }
  if (missed.empty()) return;
  std::vector<CandidateList> lists;
  search(std::span<const Question>(again), /*guess=*/false, &lists);
  for (size_t i = 0; i < missed.size(); ++i) (*answers)[missed[i]] = std::move(lists[i]);
}

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_REPEAT_MISSED_H_
