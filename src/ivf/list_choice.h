// Which lists of an inverted file queries visit.
#ifndef RESMEM_IVF_LIST_CHOICE_H_
#define RESMEM_IVF_LIST_CHOICE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ivf/coded_vectors.h"
#include "ivf/list_search.h"
#include "ivf/search_effort.h"

namespace resmem {

struct Visit {
  uint32_t list;
  uint32_t query;
  float base;  // squared distance of the query from the centroid
};

// Of questions[i], coded as queries[i].  A query's visits stand together, its nearest list first.
//
// A query asks for `probes` lists.  Where a share s of their rows still lives, it goes on until
// it has met 1 / s times as many living rows as the lists once had, and through all lists
// where s is below a half: what is left lies farther off, spread over more lists.  It always
// meets k rows, where there are as many.
std::vector<Visit> ChooseLists(const ListSearch& search, std::span<const Question> questions,
                               const CodedVectors& queries, const SearchEffort& effort,
                               int threads);

}  // namespace resmem

#endif  // RESMEM_IVF_LIST_CHOICE_H_
