#include "ivf/choose_effort.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <utility>

#include "search/nearest_list.h"
#include "support/parallel.h"
#include "support/random.h"

namespace resmem {
namespace {

// A query with many neighbors tells more, and its exact answer takes longer.
constexpr int64_t kFewNeighbors = 64;
constexpr int64_t kQueriesOfFew = 1000, kQueriesOfMany = 200;
constexpr int64_t kFewestQueries = 100;  // of a small memory

class Trial {
 public:
  Trial(const ListSearch& search, int threads) : search_(search), threads_(threads) {}

  // `queries` rows of the memory, and their k true neighbors.
  Status Ask(const KnnIndex& exact, int64_t queries, int64_t k, uint64_t seed, Progress* progress) {
    const KeyStore& keys = search_.keys();
    const int64_t dim = keys.dim();
    Random random(seed, 1);
    const int64_t visible = keys.visible_rows();
    const int64_t wanted = std::min({queries, std::max(kFewestQueries, visible / 8), visible});
    while (static_cast<int64_t>(rows_.size()) < wanted) {
      const auto row = static_cast<int64_t>(random.Below(static_cast<uint64_t>(keys.rows())));
      if (!keys.hidden(row)) rows_.push_back(row);
    }
    std::sort(rows_.begin(), rows_.end());
    queries_.resize(rows_.size() * static_cast<size_t>(dim));
    std::vector<float> scratch(static_cast<size_t>(dim));
    for (size_t q = 0; q < rows_.size(); ++q) {
      const float* key = keys.Rows(rows_[q], 1, scratch.data());
      std::copy_n(key, dim, queries_.data() + q * static_cast<size_t>(dim));
      questions_.push_back(
          {queries_.data() + q * static_cast<size_t>(dim), rows_[q], static_cast<int64_t>(q)});
    }
    const int64_t most = std::min(k, keys.visible_rows() - 1);
    if (most < 1) return {};
    SearchOptions options;
    options.k = most;
    options.threads = threads_;
    options.exclude = rows_;
    options.progress = progress;
    return exact.Search(MatrixView(queries_.data(), static_cast<int64_t>(rows_.size()), dim),
                        options, &truth_);
  }

  // Neighbors that a question can have at most.
  int64_t most() const { return truth_.k; }

  struct Outcome {
    double mean = 1, standard_error = 0;
  };
  Result<Outcome> Measure(const SearchEffort& effort) const {
    const int64_t k = std::min(effort.k, most());
    std::vector<double> recalls(questions_.size());
    std::mutex mutex;
    Status failure;
    const int threads = ResolveThreads(threads_);
    const int64_t queries = static_cast<int64_t>(questions_.size());
    ParallelFor(threads, queries, (queries + threads - 1) / threads,
                [&](int64_t begin, int64_t end, int) {
                  const auto count = static_cast<size_t>(end - begin);
                  std::vector<std::vector<MeasuredRow>> found(count);
                  const Status status = search_.Search(std::span(questions_).subspan(begin, count),
                                                       effort, 0, /*threads=*/1, found);
                  if (!status.ok()) {
                    const std::lock_guard<std::mutex> lock(mutex);
                    failure = status;
                    return;
                  }
                  for (size_t i = 0; i < count; ++i) {
                    recalls[begin + i] = Recall(begin + i, k, &found[i]);
                  }
                });
    RESMEM_RETURN_IF_ERROR(failure);
    double sum = 0, squares = 0;
    for (const double recall : recalls) sum += recall;
    const double n = static_cast<double>(recalls.size()), mean = sum / n;
    for (const double recall : recalls) squares += (recall - mean) * (recall - mean);
    return Outcome{mean, std::sqrt(squares / n / n)};
  }

 private:
  double Recall(size_t query, int64_t k, std::vector<MeasuredRow>* found) const {
    KeepNearest(k, found);
    const double last = truth_.distances_of(static_cast<int64_t>(query))[k - 1];
    const auto right = std::count_if(found->begin(), found->end(), [&](const MeasuredRow& row) {
      return static_cast<float>(std::sqrt(row.squared_distance)) <= last;
    });
    return static_cast<double>(right) / static_cast<double>(k);
  }

  const ListSearch& search_;
  const int threads_;
  std::vector<int64_t> rows_;
  std::vector<float> queries_;
  std::vector<Question> questions_;
  Neighbors truth_;
};

// 1, 2, 3, ... and from 16 on in steps of a fifth, up to all.
std::vector<int64_t> ProbeSteps(int64_t lists) {
  std::vector<int64_t> steps;
  for (int64_t probes = 1; probes < lists; probes += std::max<int64_t>(1, probes / 5)) {
    steps.push_back(probes);
  }
  steps.push_back(lists);
  return steps;
}

bool Suffices(const Trial::Outcome& outcome, double recall) {
  return outcome.mean - 2 * outcome.standard_error >= recall;
}

Result<MeasuredEffort> ChooseFor(int64_t k, const Trial& trial, int64_t lists, double recall) {
  // The lists alone should lose less than was allowed, so that the codes may lose the rest.
  const double of_lists = recall + (1 - recall) / 10;
  const std::vector<int64_t> steps = ProbeSteps(lists);
  SearchEffort effort{k, lists, kMostDepth * k};
  size_t low = 0, high = steps.size() - 1;  // `high` suffices, or is all there is
  while (low < high) {
    const size_t middle = (low + high) / 2;
    effort.probes = steps[middle];
    RESMEM_ASSIGN_OR_RETURN(const Trial::Outcome outcome, trial.Measure(effort));
    if (Suffices(outcome, of_lists)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  effort.probes = steps[high];
  MeasuredEffort measured;
  for (const int64_t eighths :
       {int64_t{9}, int64_t{10}, int64_t{12}, int64_t{16}, int64_t{24}, 8 * kMostDepth}) {
    effort.depth = k * eighths / 8;
    RESMEM_ASSIGN_OR_RETURN(const Trial::Outcome outcome, trial.Measure(effort));
    measured = {effort, outcome.mean};
    if (Suffices(outcome, recall)) break;
  }
  return measured;
}

}  // namespace

Result<std::vector<MeasuredEffort>> ChooseEffort(const ListSearch& search, const KnnIndex& exact,
                                                 double recall, uint64_t seed, int threads,
                                                 Progress* progress) {
  Trial few(search, threads), many(search, threads);
  RESMEM_RETURN_IF_ERROR(few.Ask(exact, kQueriesOfFew, kFewNeighbors, seed, progress));
  RESMEM_RETURN_IF_ERROR(
      many.Ask(exact, kQueriesOfMany, *std::rbegin(kEffortLadder), seed, progress));
  std::vector<MeasuredEffort> chosen;
  for (const int64_t k : kEffortLadder) {
    if (progress != nullptr) {
      if (progress->Cancelled()) return Status(ErrorCode::kCancelled, "indexing was stopped");
      progress->Report("effort", static_cast<int64_t>(chosen.size()), std::ssize(kEffortLadder));
    }
    const Trial& trial = k <= kFewNeighbors ? few : many;
    if (trial.most() < 1) {
      chosen.push_back({{k, 1, k}, 1.0});
      continue;
    }
    RESMEM_ASSIGN_OR_RETURN(const MeasuredEffort effort,
                            ChooseFor(k, trial, search.file().lists(), recall));
    chosen.push_back(effort);
  }
  if (progress != nullptr) {
    progress->Report("effort", std::ssize(kEffortLadder), std::ssize(kEffortLadder));
  }
  return chosen;
}

}  // namespace resmem
