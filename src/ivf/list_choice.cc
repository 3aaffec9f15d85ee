#include "ivf/list_choice.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ivf/candidate_pool.h"
#include "kernels/squared_distance.h"

namespace resmem {
namespace {

// Of a query alone, in order: what they give keeps many rows of the others out.
constexpr int64_t kNearestFirst = 16;

class Choice {
 public:
  Choice(const ListSearch& search, std::span<const Question> questions, const SearchEffort& effort,
         int threads)
      : search_(search),
        file_(search.file()),
        questions_(questions),
        effort_(effort),
        threads_(threads) {}

  std::vector<Visit> Make(const CodedVectors& queries) {
    std::vector<uint32_t> open(questions_.size());
    std::iota(open.begin(), open.end(), 0u);
    ChooseAmong(effort_.probes * (search_.any_hidden() ? 2 : 1), queries, &open);
    for (int64_t lists = effort_.probes * 4; !open.empty(); lists *= 4) {
      CodedVectors some(queries.dim(), static_cast<int64_t>(open.size()));
      for (size_t i = 0; i < open.size(); ++i) {
        some.Set(static_cast<int64_t>(i), questions_[open[i]].query, file_.centroids().center());
      }
      ChooseAmong(lists, some, &open);
    }
    return std::move(visits_);
  }

 private:
  // queries[i] is question (*open)[i]; those that need more than `lists` lists stay open.
  void ChooseAmong(int64_t lists, const CodedVectors& queries, std::vector<uint32_t>* open) {
    lists = std::min(lists, file_.lists());
    std::vector<CandidatePool> nearest(open->size(), CandidatePool(lists));
    file_.centroids().Nearest(queries, nearest, threads_);
    std::vector<uint32_t> unsatisfied;
    for (size_t i = 0; i < open->size(); ++i) {
      const size_t before = visits_.size();
      const std::span<Candidate> near = nearest[i].Kept();
      const bool enough = lists == effort_.probes && !search_.any_hidden()
                              ? VisitAll(near, (*open)[i])
                              : VisitUntilEnough(near, (*open)[i]);
      if (!enough) {
        visits_.resize(before);
        unsatisfied.push_back((*open)[i]);
        continue;
      }
      for (Visit& visit : std::span(visits_).subspan(before)) {
        visit.base = static_cast<float>(SquaredDistance(
            questions_[visit.query].query, file_.centroids().centroid(visit.list), queries.dim()));
      }
    }
    *open = std::move(unsatisfied);
  }

  int64_t fewest() const { return effort_.k + 1; }  // one may be excluded

  // Where nothing is deleted.
  bool VisitAll(std::span<Candidate> near, uint32_t query) {
    const auto first =
        questions_.size() > 1 ? 1 : std::min<int64_t>(kNearestFirst, std::ssize(near));
    std::partial_sort(near.begin(), near.begin() + first, near.end());
    int64_t rows = 0;
    for (const Candidate& list : near) {
      rows += file_.list_rows(list.row());
      visits_.push_back({list.row(), query, 0});
    }
    return rows >= fewest() || std::ssize(near) == file_.lists();
  }

  bool VisitUntilEnough(std::span<Candidate> near, uint32_t query) {
    std::sort(near.begin(), near.end());
    int64_t listed = 0, living = 0, probed = 0, needed = 0;
    for (const Candidate& list : near) {
      if (probed >= effort_.probes && living >= needed) break;
      living += search_.living_rows(list.row());
      visits_.push_back({list.row(), query, 0});
      if (++probed > effort_.probes) continue;
      listed += file_.list_rows(list.row());
      needed =
          2 * living < listed ? file_.rows() + 1 : listed * listed / std::max<int64_t>(living, 1);
      needed = std::max(needed, fewest());
    }
    return living >= needed || probed == file_.lists();
  }

  const ListSearch& search_;
  const InvertedFile& file_;
  const std::span<const Question> questions_;
  const SearchEffort& effort_;
  const int threads_;
  std::vector<Visit> visits_;
};

}  // namespace

std::vector<Visit> ChooseLists(const ListSearch& search, std::span<const Question> questions,
                               const CodedVectors& queries, const SearchEffort& effort,
                               int threads) {
  return Choice(search, questions, effort, threads).Make(queries);
}

}  // namespace resmem
