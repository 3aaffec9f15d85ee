#include "ivf/list_search.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "ivf/candidate_pool.h"
#include "ivf/coded_vectors.h"
#include "ivf/k_means.h"
#include "kernels/amx.h"
#include "kernels/squared_distance.h"
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

// One call of Search().
class ListSearch::Batch {
 public:
  Batch(const ListSearch& search, std::span<const Question> questions, const SearchEffort& effort,
        int64_t first_row)
      : search_(search),
        file_(search.file_),
        questions_(questions),
        effort_(effort),
        first_row_(first_row),
        queries_(search.keys_.dim(), static_cast<int64_t>(questions.size())),
        pools_(questions.size(), CandidatePool(std::max(effort.depth, effort.k))) {
    for (size_t q = 0; q < questions.size(); ++q) {
      queries_.Set(static_cast<int64_t>(q), questions[q].query, file_.centroids().center());
    }
  }

  Status Run(std::span<std::vector<MeasuredRow>> measured) {
    ChooseLists();
    std::optional<TileScope> tiles;
    if (AmxActive()) tiles.emplace();
    for (size_t begin = 0; begin < visits_.size();) {
      size_t end = begin + 1;
      while (end < visits_.size() && end - begin < kGroupQueries &&
             visits_[end].list == visits_[begin].list) {
        ++end;
      }
      ScanList(std::span(visits_).subspan(begin, end - begin));
      begin = end;
    }
    for (size_t q = 0; q < questions_.size(); ++q) {
      RESMEM_RETURN_IF_ERROR(Measure(q, &measured[q]));
    }
    return {};
  }

 private:
  struct Visit {
    uint32_t list;
    uint32_t query;
    float base;  // squared distance of the query from the centroid
  };

  // A query asks for `probes` lists.  Where a share s of their rows still lives, it goes on until
  // it has met 1 / s times as many living rows as the lists once had, and through all lists
  // where s is below a half: what is left lies farther off, spread over more lists.  It always
  // meets k rows, where there are as many.
  void ChooseLists() {
    std::vector<uint32_t> open(questions_.size());
    std::iota(open.begin(), open.end(), 0u);
    int64_t lists = effort_.probes * (search_.hidden_.empty() ? 1 : 2);
    while (!open.empty()) {
      lists = std::min(lists, file_.lists());
      std::vector<uint32_t> unsatisfied;
      if (open.size() == questions_.size()) {
        ChooseAmong(lists, queries_, open, &unsatisfied);
      } else {
        CodedVectors some(queries_.dim(), static_cast<int64_t>(open.size()));
        for (size_t i = 0; i < open.size(); ++i) {
          some.Set(static_cast<int64_t>(i), questions_[open[i]].query, file_.centroids().center());
        }
        ChooseAmong(lists, some, open, &unsatisfied);
      }
      open = std::move(unsatisfied);
      lists *= 4;
    }
    // Each list is read once for all its queries; a query alone starts with its nearest list.
    if (questions_.size() > 1) OrderByList();
  }

  void OrderByList() {
    std::vector<size_t> next(static_cast<size_t>(file_.lists()) + 1);
    for (const Visit& visit : visits_) ++next[visit.list + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<Visit> ordered(visits_.size());
    for (const Visit& visit : visits_) ordered[next[visit.list]++] = visit;
    visits_ = std::move(ordered);
  }

  // queries[i] is question numbers[i]; `unsatisfied` are those that need more than `lists` lists.
  void ChooseAmong(int64_t lists, const CodedVectors& queries, std::span<const uint32_t> numbers,
                   std::vector<uint32_t>* unsatisfied) {
    const int64_t fewest = effort_.k + 1;  // one may be excluded
    std::vector<CandidatePool> nearest(numbers.size(), CandidatePool(lists));
    file_.centroids().Nearest(queries, 0, queries.count(), nearest);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const size_t before = visits_.size();
      int64_t listed = 0, living = 0, probed = 0, needed = 0;
      for (const Candidate& near : nearest[i].Sorted()) {
        if (probed >= effort_.probes && living >= needed) break;
        living += search_.living_rows(near.row);
        visits_.push_back({near.row, numbers[i], 0});
        if (++probed > effort_.probes) continue;
        listed += file_.list_rows(near.row);
        needed =
            2 * living < listed ? file_.rows() + 1 : listed * listed / std::max<int64_t>(living, 1);
        needed = std::max(needed, fewest);
      }
      if (living < needed && probed < file_.lists()) {
        visits_.resize(before);
        unsatisfied->push_back(numbers[i]);
        continue;
      }
      for (Visit& visit : std::span(visits_).subspan(before)) {
        visit.base = static_cast<float>(SquaredDistance(
            questions_[visit.query].query, file_.centroids().centroid(visit.list), queries_.dim()));
      }
    }
  }

  // Of one list, for up to 16 queries.
  void ScanList(std::span<const Visit> visits) {
    const int64_t list = visits.front().list, width = file_.width();
    QueryGroup group;
    group.count = static_cast<int64_t>(visits.size());
    if (group.count == 1) {
      group.codes = queries_.codes(visits.front().query);
    } else {
      gathered_.resize(static_cast<size_t>(kGroupQueries * width));
      group.codes = gathered_.data();
    }
    for (int64_t i = 0; i < group.count; ++i) {
      queries_.PutScales(visits[i].query, i, &group);
      group.bases[i] = visits[i].base;
      if (group.count == 1) break;
      std::memcpy(gathered_.data() + i * width, queries_.codes(visits[i].query),
                  static_cast<size_t>(width));
    }
    const CodeBlocks blocks = file_.blocks(list);
    const uint32_t* numbers = file_.row_numbers(list);
    const int64_t rows = file_.list_rows(list);
    CellFound cells[kMostCells];
    for (int64_t row = 0; row < rows; row += kRowsACall) {
      for (int64_t i = 0; i < group.count; ++i) {
        group.thresholds[i] = pools_[visits[i].query].threshold();
      }
      const int64_t found =
          ScanBlocks(group, {blocks.codes + row * width, blocks.scales + row, blocks.norms + row},
                     std::min(kRowsACall, rows - row), width, cells);
      for (int64_t i = 0; i < found; ++i) {
        Offer(visits[cells[i].query].query, {cells[i].value, numbers[row + cells[i].row]});
      }
    }
  }

  void Offer(uint32_t query, Candidate candidate) {
    // A number that is no row's is kept, so that Measure() tells of it.
    const bool known = candidate.row < file_.rows();
    if (known && search_.hidden(candidate.row)) return;
    if (first_row_ + candidate.row == questions_[query].excluded) return;
    pools_[query].Offer(candidate);
  }

  Status Measure(size_t q, std::vector<MeasuredRow>* measured) {
    const std::span<const Candidate> candidates = pools_[q].Kept();
    for (const Candidate& candidate : candidates) {
      if (candidate.row >= file_.rows()) {
        return file_.file().Corrupt(Text("a list holds row ", candidate.row,
                                         ", but there are only ", file_.rows(), " rows"));
      }
    }
    constexpr size_t kAhead = 8;
    for (size_t i = 0; i < std::min(kAhead, candidates.size()); ++i) {
      search_.keys_.Prefetch(candidates[i].row);
    }
    decoded_.resize(static_cast<size_t>(queries_.dim()));
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (i + kAhead < candidates.size()) search_.keys_.Prefetch(candidates[i + kAhead].row);
      const int64_t row = candidates[i].row;
      const double distance = SquaredDistance(
          questions_[q].query, search_.keys_.Rows(row, 1, decoded_.data()), queries_.dim());
      if (!std::isfinite(distance)) {
        return {ErrorCode::kBadData, Text("the key of row ", first_row_ + row,
                                          " is not finite; find out more with: resmem verify")};
      }
      measured->push_back({distance, first_row_ + row});
    }
    return {};
  }

  const ListSearch& search_;
  const InvertedFile& file_;
  std::span<const Question> questions_;
  const SearchEffort& effort_;
  const int64_t first_row_;
  CodedVectors queries_;
  std::vector<CandidatePool> pools_;
  std::vector<Visit> visits_;
  std::vector<int8_t> gathered_;
  std::vector<float> decoded_;
};

Status ListSearch::Search(std::span<const Question> questions, const SearchEffort& effort,
                          int64_t first_row, std::span<std::vector<MeasuredRow>> measured) const {
  return Batch(*this, questions, effort, first_row).Run(measured);
}

}  // namespace resmem
