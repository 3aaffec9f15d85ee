#include "ivf/list_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ivf/coded_vectors.h"
#include "ivf/k_means.h"
#include "ivf/list_choice.h"
#include "ivf/list_scan.h"
#include "kernels/squared_distance.h"
#include "search/row_measure.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {

void KeepNearest(int64_t k, std::vector<MeasuredRow>* rows) {
  const auto last = rows->begin() + std::min(k, static_cast<int64_t>(rows->size()));
  std::nth_element(rows->begin(), last, rows->end());
  rows->erase(last, rows->end());
  std::sort(rows->begin(), rows->end());
}

ListSearch::ListSearch(InvertedFile file, KeyStore keys, const std::vector<int64_t>& hidden)
    : file_(std::move(file)), keys_(std::move(keys)) {
  if (hidden.empty()) return;
  hidden_.resize(static_cast<size_t>(keys_.rows()));
  for (const int64_t row : hidden) hidden_[row] = true;
}

bool ListSearch::InReach(const float* query) const {
  return SquaredDistance(query, file_.centroids().center(), keys_.dim()) <=
         kLargestListedDistance * kLargestListedDistance;
}

int64_t ListSearch::living_rows(int64_t list) const {
  if (hidden_.empty()) return file_.list_rows(list);
  std::call_once(living_once_, [this] {
    living_rows_.resize(static_cast<size_t>(file_.lists()));
    for (int64_t l = 0; l < file_.lists(); ++l) {
      const uint32_t* rows = file_.row_numbers(l);
      for (int64_t i = 0; i < file_.list_rows(l); ++i) {
        living_rows_[l] += rows[i] < hidden_.size() && !hidden_[rows[i]] ? 1 : 0;
      }
    }
  });
  return living_rows_[list];
}

namespace {

// By list, so that each is read once for all its queries; but each query's nearest list before:
// what it gives keeps most rows of the others out.  Returns how many visits come before.
size_t OrderByList(int64_t lists, std::vector<Visit>* visits) {
  std::vector<size_t> next(static_cast<size_t>(2 * lists) + 1);
  const auto place = [&](size_t i) {
    const bool nearest = i == 0 || (*visits)[i].query != (*visits)[i - 1].query;
    return (*visits)[i].list + static_cast<size_t>(nearest ? 0 : lists);
  };
  for (size_t i = 0; i < visits->size(); ++i) ++next[place(i) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const size_t before = next[static_cast<size_t>(lists)];
  std::vector<Visit> ordered(visits->size());
  for (size_t i = 0; i < visits->size(); ++i) ordered[next[place(i)]++] = (*visits)[i];
  *visits = std::move(ordered);
  return before;
}

// Pools for the rows to be measured, one a query.  Where deletions lead a query to more lists than
// its effort was tried with, the rows that are left lie on a wide shell around it: the codes of 4
// bits do not tell which of them are nearest, and more are measured.
std::vector<CandidatePool> MakePools(std::span<const Visit> visits, size_t queries,
                                     const SearchEffort& effort, int code_bits) {
  constexpr int64_t kMostTimes = 16;
  const int64_t depth = std::max(effort.depth, effort.k);
  std::vector<CandidatePool> pools(queries, CandidatePool(depth));
  for (size_t begin = 0; code_bits == 4 && begin < visits.size();) {
    size_t end = begin + 1;
    while (end < visits.size() && visits[end].query == visits[begin].query) ++end;
    const auto times = static_cast<int64_t>(end - begin) / effort.probes;
    if (times > 1) {
      pools[visits[begin].query] = CandidatePool(depth * std::min(times, kMostTimes));
    }
    begin = end;
  }
  return pools;
}

}  // namespace

Status ListSearch::Search(std::span<const Question> questions, const SearchEffort& effort,
                          int64_t first_row, int threads,
                          std::span<std::vector<MeasuredRow>> measured) const {
  CodedVectors queries(keys_.dim(), static_cast<int64_t>(questions.size()));
  for (size_t q = 0; q < questions.size(); ++q) {
    queries.Set(static_cast<int64_t>(q), questions[q].query, file_.centroids().center());
  }
  std::vector<Visit> visits = ChooseLists(*this, questions, queries, effort, threads);
  std::vector<CandidatePool> pools = MakePools(visits, questions.size(), effort, file_.code_bits());
  ListScan scan(*this, questions, queries, first_row, pools);
  if (questions.size() > 1) {
    const size_t nearest = OrderByList(file_.lists(), &visits);
    scan.Run(std::span(visits).first(nearest));
    for (CandidatePool& pool : pools) pool.Tighten();
    scan.Run(std::span(visits).subspan(nearest));
  } else if (threads > 1 && BytesOf(visits) >= kFewestSharedBytes) {
    std::vector<CandidatePool> shares(static_cast<size_t>(threads), pools[0]);
    const auto count = static_cast<int64_t>(visits.size());
    ParallelFor(threads, count, (count + 4 * threads - 1) / (4 * threads),
                [&](int64_t begin, int64_t end, int worker) {
                  ListScan(*this, questions, queries, first_row,
                           std::span(shares).subspan(worker, 1))
                      .Run(std::span(visits).subspan(begin, end - begin));
                });
    for (CandidatePool& share : shares) pools[0].OfferAll(&share);
  } else {
    scan.Run(visits);
  }
  for (size_t q = 0; q < questions.size(); ++q) {
    RESMEM_RETURN_IF_ERROR(Measure(questions[q], pools[q].Kept(), first_row, &measured[q]));
  }
  return {};
}

int64_t ListSearch::BytesOf(std::span<const Visit> visits) const {
  int64_t rows = 0;
  for (const Visit& visit : visits) rows += file_.list_rows(visit.list);
  return rows * file_.width();
}

Status ListSearch::Measure(const Question& question, std::span<const Candidate> candidates,
                           int64_t first_row, std::vector<MeasuredRow>* measured) const {
  for (const Candidate& candidate : candidates) {
    if (candidate.row() >= file_.rows()) {
      return file_.file().Corrupt(Text("a list holds row ", candidate.row(),
                                       ", but there are only ", file_.rows(), " rows"));
    }
  }
  int64_t bad = -1;
  RowMeasure(keys_).Run(
      question.query, candidates.size(), [&](size_t i) { return candidates[i].row(); },
      [&](int64_t row, double squared) {
        if (!std::isfinite(squared)) bad = row;
        measured->push_back({squared, first_row + row});
      });
  if (bad >= 0) {
    return {ErrorCode::kBadData, Text("the key of row ", first_row + bad,
                                      " is not finite; find out more with: resmem verify")};
  }
  return {};
}

}  // namespace resmem
