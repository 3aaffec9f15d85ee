#include "search/approximate/lists/list_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/squared_distance.h"
#include "search/approximate/codes/coded_vectors.h"
#include "search/approximate/lists/k_means.h"
#include "search/approximate/lists/list_choice.h"
#include "search/approximate/lists/list_scan.h"
#include "search/row_measure.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {

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
  living_once_.Run([this] {
    living_rows_.assign(static_cast<size_t>(file_.lists()), 0);
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

// Times as many rows are measured at most where others were deleted.
constexpr int64_t kMostTimes = 16;

}  // namespace

int64_t ListSearch::Candidates(const SearchEffort& effort) const {
  const bool wider = any_hidden() && file_.code_bits() != 8;
  const int64_t lists = any_hidden() ? file_.lists() : std::min(2 * effort.lists, file_.lists());
  return 2 * effort.depth * (wider ? kMostTimes : 1) + 3 * lists + 64;
}

namespace {

// So that each list is read once for all its queries.
std::vector<Visit> OrderedByList(std::span<const Visit> visits, int64_t lists, bool backward) {
  std::vector<size_t> next(static_cast<size_t>(lists) + 1);
  const auto place = [&](const Visit& visit) {
    return backward ? static_cast<size_t>(lists) - 1 - visit.list : size_t{visit.list};
  };
  for (const Visit& visit : visits) ++next[place(visit) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Visit> ordered(visits.size());
  for (const Visit& visit : visits) ordered[next[place(visit)]++] = visit;
  return ordered;
}

// Pools for the rows to be measured, one a query.  Where deletions lead a query to more lists, the
// rows that are left lie on a wide shell around it: codes of less than 8 bits do not tell which of
// them are nearest, and more are measured.
std::vector<CandidatePool> MakePools(const ListSearch& search, std::span<const Visit> first,
                                     size_t queries, const SearchEffort& effort) {
  const int64_t depth = std::max(effort.depth, effort.k);
  std::vector<CandidatePool> pools(queries, CandidatePool(depth));
  if (search.file().code_bits() == 8 || !search.any_hidden()) return pools;
  std::vector<int64_t> listed(queries), living(queries);
  for (const Visit& visit : first) {
    listed[visit.query] += search.file().list_rows(visit.list);
    living[visit.query] += search.living_rows(visit.list);
  }
  for (size_t q = 0; q < queries; ++q) {
    const int64_t times = listed[q] / std::max<int64_t>(living[q], 1);
    if (times > 1) pools[q] = CandidatePool(depth * std::min(times, kMostTimes));
  }
  return pools;
}

}  // namespace

Status ListSearch::Search(std::span<const Question> questions, const SearchEffort& effort,
                          int64_t first_row, int threads,
                          std::span<std::vector<MeasuredRow>> measured, SearchWork* work) const {
  CodedVectors queries(keys_.dim(), static_cast<int64_t>(questions.size()));
  for (size_t q = 0; q < questions.size(); ++q) {
    queries.Set(static_cast<int64_t>(q), questions[q].query, file_.centroids().center());
  }
  ListChoice choice(*this, questions, queries, effort, threads);
  const std::vector<Visit> first = choice.First();
  std::vector<CandidatePool> pools = MakePools(*this, first, questions.size(), effort);
  const auto scan = [&](std::span<const Visit> visits, bool backward) {
    if (work != nullptr) {
      work->lists += std::ssize(visits);
      work->rows += RowsOf(visits);
    }
    if (questions.size() > 1) {
      ListScan(*this, questions, queries, first_row, pools)
          .Run(OrderedByList(visits, file_.lists(), backward));
    } else if (threads > 1 && RowsOf(visits) * file_.width() >= kFewestSharedBytes) {
      std::vector<CandidatePool> shares(static_cast<size_t>(threads), pools[0]);
      for (CandidatePool& share : shares) share.KeepThresholdOnly();
      const int64_t count = std::ssize(visits);
      ParallelFor(threads, count, (count + 4 * threads - 1) / (4 * threads),
                  [&](int64_t begin, int64_t end, int worker) {
                    ListScan(*this, questions, queries, first_row,
                             std::span(shares).subspan(worker, 1))
                        .Run(visits.subspan(begin, end - begin));
                  });
      for (CandidatePool& share : shares) pools[0].OfferAll(&share);
    } else {
      ListScan(*this, questions, queries, first_row, pools).Run(visits);
    }
  };
  scan(first, /*backward=*/false);
  std::vector<float> kth(questions.size());
  for (size_t q = 0; q < kth.size(); ++q) kth[q] = pools[q].ValueOfKth(effort.k);
  // From the end, whose lists the caches still hold.
  scan(choice.Rest(kth), /*backward=*/true);
  return Measure(questions, pools, first_row, measured);
}

int64_t ListSearch::RowsOf(std::span<const Visit> visits) const {
  int64_t rows = 0;
  for (const Visit& visit : visits) rows += file_.list_rows(visit.list);
  return rows;
}

namespace {

struct Pair {
  uint32_t row, query;
};

// Roughly by row: those of one query follow those of another that lie beside them.
std::vector<Pair> OrderedByRow(std::span<const Pair> pairs, int64_t rows) {
  const auto bits = [](uint64_t number) { return static_cast<int>(std::bit_width(number)); };
  const int shift = std::max(bits(static_cast<uint64_t>(rows)) - bits(pairs.size() / 4), 0);
  std::vector<size_t> next((static_cast<size_t>(rows) >> shift) + 2);
  for (const Pair& pair : pairs) ++next[(pair.row >> shift) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Pair> ordered(pairs.size());
  for (const Pair& pair : pairs) ordered[next[pair.row >> shift]++] = pair;
  return ordered;
}

}  // namespace

Status ListSearch::Measure(std::span<const Question> questions, std::span<CandidatePool> pools,
                           int64_t first_row, std::span<std::vector<MeasuredRow>> measured) const {
  std::vector<Pair> pairs;
  for (size_t q = 0; q < questions.size(); ++q) {
    for (const Candidate& candidate : pools[q].Kept()) {
      if (candidate.number() >= file_.rows()) {
        return file_.file().Corrupt(Text("a list holds row ", candidate.number(),
                                         ", but there are only ", file_.rows(),
                                         " rows; find out more with: resmem verify"));
      }
      keys_.Require(candidate.number());
      pairs.push_back({candidate.number(), static_cast<uint32_t>(q)});
    }
  }
  if (questions.size() > 1) pairs = OrderedByRow(pairs, file_.rows());
  int64_t bad = -1;
  RowMeasure(keys_).Run(
      pairs.size(), [&](size_t i) { return questions[pairs[i].query].query; },
      [&](size_t i) { return pairs[i].row; },
      [&](size_t i, double squared) {
        if (!std::isfinite(squared)) bad = pairs[i].row;
        measured[pairs[i].query].push_back({squared, first_row + pairs[i].row});
      });
  if (bad >= 0) {
    return {ErrorCode::kBadData, Text("the key of row ", first_row + bad,
                                      " is not finite; find out more with: resmem verify")};
  }
  return {};
}

}  // namespace resmem
