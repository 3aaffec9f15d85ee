#include "search/approximate/lists/list_choice.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/squared_distance.h"

namespace resmem {
namespace {

constexpr size_t kFewestFirstLists = 4;
constexpr int64_t kFirstRows = 3;  // times k

double FourthPower(double x) {
  return (x * x) * (x * x);
}

// How many of `near`, beyond the first `begin`, are within reach; they are put behind these, in no
// order.  `within(n, value)`: whether the n-th nearest is, if its value is that.
template <class Within>
size_t PutFirst(std::span<Candidate> near, size_t begin, const Within& within) {
  size_t end = near.size();
  while (begin < end) {
    const size_t middle = (begin + end) / 2;
    std::nth_element(near.begin() + begin, near.begin() + middle, near.begin() + end);
    if (within(middle + 1, near[middle].value())) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

}  // namespace

ListChoice::ListChoice(const ListSearch& search, std::span<const Question> questions,
                       const CodedVectors& queries, const SearchEffort& effort, int threads)
    : search_(search),
      file_(search.file()),
      questions_(questions),
      queries_(queries),
      effort_(effort),
      threads_(threads),
      near_(questions.size(), CandidatePool(1)),
      first_(questions.size()) {
  std::vector<uint32_t> all(questions.size());
  std::iota(all.begin(), all.end(), 0u);
  // Twice the mean is enough for nearly all queries.
  const int64_t lists = 2 * std::max<int64_t>(effort.lists, kFewestFirstLists);
  FindNearest(lists * (search.any_hidden() ? 2 : 1), queries, all);
}

// queries[i] is question numbers[i].
void ListChoice::FindNearest(int64_t lists, const CodedVectors& queries,
                             std::span<const uint32_t> numbers) {
  std::vector<CandidatePool> nearest(numbers.size(), CandidatePool(std::min(lists, file_.lists())));
  file_.centroids().Nearest(queries, nearest, threads_);
  for (size_t i = 0; i < numbers.size(); ++i) near_[numbers[i]] = std::move(nearest[i]);
}

template <class Take>
void ListChoice::ForAll(const Take& take) {
  std::vector<uint32_t> open(questions_.size());
  std::iota(open.begin(), open.end(), 0u);
  while (true) {
    std::erase_if(open, [&](uint32_t query) {
      const std::span<Candidate> near = near_[query].Kept();
      return take(query, near) || std::ssize(near) == file_.lists();
    });
    if (open.empty()) return;
    CodedVectors some(queries_.dim(), static_cast<int64_t>(open.size()));
    int64_t lists = 0;
    for (size_t i = 0; i < open.size(); ++i) {
      some.Set(static_cast<int64_t>(i), questions_[open[i]].query, file_.centroids().center());
      lists = std::max(lists, 4 * std::ssize(near_[open[i]].Kept()));
    }
    FindNearest(lists, some, open);
  }
}

void ListChoice::AddVisits(std::span<const Candidate> lists, uint32_t query,
                           std::vector<Visit>* visits) const {
  const float* values = questions_[query].query;
  const auto centroid = [&](size_t i) { return file_.centroids().centroid(lists[i].number()); };
  for (size_t i = 0; i < lists.size(); ++i) {
    const float* next = i + 1 < lists.size() ? centroid(i + 1) : nullptr;
    const float base = RoughSquaredDistance(values, centroid(i), queries_.dim(), next);
    visits->push_back({lists[i].number(), query, base});
  }
}

std::vector<Visit> ListChoice::First() {
  std::vector<Visit> visits;
  const int64_t wanted = kFirstRows * effort_.k;
  ForAll([&](uint32_t query, std::span<Candidate> near) {
    int64_t living = 0;
    size_t end = 0, sorted = 0;
    while (end < near.size() && (end < kFewestFirstLists || living < wanted)) {
      if (end == sorted) {
        sorted = std::min(near.size(), 2 * sorted + kFewestFirstLists);
        std::partial_sort(near.begin() + end, near.begin() + sorted, near.end());
      }
      living += search_.living_rows(near[end++].number());
    }
    if (living < wanted && std::ssize(near) < file_.lists()) return false;
    first_[query] = end;
    AddVisits(near.first(end), query, &visits);
    return true;
  });
  return visits;
}

std::vector<Visit> ListChoice::Rest(std::span<const float> kth) {
  std::vector<Visit> visits;
  ForAll([&](uint32_t query, std::span<Candidate> near) {
    const size_t first = first_[query];
    // After another FindNearest() they stand anywhere.
    std::nth_element(near.begin(), near.begin() + first, near.end());
    // Values of lists are squared distances less this.
    const double of_center =
        SquaredDistance(questions_[query].query, file_.centroids().center(), queries_.dim());
    const double limit = effort_.reach * FourthPower(kth[query]);
    size_t end = PutFirst(near, first, [&](size_t n, float value) {
      if (effort_.reach == 0) return std::cmp_less_equal(n, effort_.lists);
      return static_cast<double>(n) * FourthPower(std::max(of_center + value, 0.0)) <= limit;
    });
    if (search_.any_hidden()) end = GoOn(near, end);
    if (end == near.size() && std::ssize(near) < file_.lists()) return false;
    AddVisits(near.subspan(first, end - first), query, &visits);
    return true;
  });
  return visits;
}

// Where rows were deleted: how many lists to visit where `end` of them would do otherwise.
size_t ListChoice::GoOn(std::span<Candidate> near, size_t end) const {
  int64_t listed = 0, living = 0;
  for (const Candidate& list : near.first(end)) {
    listed += file_.list_rows(list.number());
    living += search_.living_rows(list.number());
  }
  if (2 * living < listed) return near.size();
  const int64_t needed = listed * listed / std::max<int64_t>(living, 1);
  std::sort(near.begin() + end, near.end());
  while (end < near.size() && living < needed) living += search_.living_rows(near[end++].number());
  return end;
}

}  // namespace resmem
