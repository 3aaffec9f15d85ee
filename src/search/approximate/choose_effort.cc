#include "search/approximate/choose_effort.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include "search/keep_nearest.h"
#include "support/choose_rows.h"
#include "support/parallel.h"
#include "support/random.h"

namespace resmem {
namespace {

// A query with many neighbors tells more, and its exact answer takes longer.
constexpr int64_t kFewNeighbors = 64;
constexpr int64_t kQueriesOfFew = 2000, kQueriesOfMany = 200;
constexpr int64_t kFewestQueries = 100;  // of a small memory

class Trial {
 public:
  Trial(const ListSearch& search, int threads) : search_(search), threads_(threads) {}

  // About `wanted` queries, and their k true neighbors.
  Status Ask(const KnnIndex& exact, const EffortGoal& goal, int64_t wanted, int64_t k,
             Progress* progress) {
    if (goal.queries.rows > 0) {
      TakeGiven(goal.queries, wanted, goal.seed);
    } else {
      TakeRows(wanted, goal.seed);
    }
    const int64_t dim = exact.dim();
    const auto count = static_cast<int64_t>(queries_.size()) / dim;
    for (int64_t q = 0; q < count; ++q) {
      questions_.push_back(
          {queries_.data() + q * dim, rows_.empty() ? -1 : rows_[static_cast<size_t>(q)], q});
    }
    const int64_t most = std::min(k, search_.keys().visible_rows() - (rows_.empty() ? 0 : 1));
    if (most < 1 || count == 0) return {};
    SearchOptions options;
    options.k = most;
    options.threads = threads_;
    options.exclude = rows_;
    options.progress = progress;
    return exact.Search(MatrixView(queries_.data(), count, dim), options, &truth_);
  }

  bool asks() const { return !questions_.empty(); }
  // Neighbors that a question can have at most.
  int64_t most() const { return truth_.k; }

  struct Outcome {
    double mean = 1, standard_error = 0;
    double lists = 0, rows = 0;  // read for a query, on average
  };
  Result<Outcome> Measure(const SearchEffort& effort) const {
    const int64_t k = std::min(effort.k, most());
    std::vector<double> recalls(questions_.size());
    std::mutex mutex;
    Status failure;
    SearchWork all;
    const int threads = ResolveThreads(threads_);
    const int64_t queries = static_cast<int64_t>(questions_.size());
    ParallelFor(threads, queries, (queries + threads - 1) / threads,
                [&](int64_t begin, int64_t end, int) {
                  const auto count = static_cast<size_t>(end - begin);
                  std::vector<std::vector<MeasuredRow>> found(count);
                  SearchWork work;
                  const Status status = search_.Search(std::span(questions_).subspan(begin, count),
                                                       effort, 0, /*threads=*/1, found, &work);
                  for (size_t i = 0; status.ok() && i < count; ++i) {
                    recalls[begin + i] = Recall(begin + i, k, &found[i]);
                  }
                  const std::lock_guard<std::mutex> lock(mutex);
                  if (!status.ok()) failure = status;
                  all.lists += work.lists;
                  all.rows += work.rows;
                });
    RESMEM_RETURN_IF_ERROR(failure);
    double sum = 0, squares = 0;
    for (const double recall : recalls) sum += recall;
    const double n = static_cast<double>(recalls.size()), mean = sum / n;
    for (const double recall : recalls) squares += (recall - mean) * (recall - mean);
    return Outcome{mean, std::sqrt(squares / n / n), static_cast<double>(all.lists) / n,
                   static_cast<double>(all.rows) / n};
  }

 private:
  void TakeGiven(MatrixView given, int64_t wanted, uint64_t seed) {
    for (const int64_t row : ChooseRows(given.rows, wanted, seed)) {
      const float* query = given.row(row);
      if (search_.InReach(query)) queries_.insert(queries_.end(), query, query + given.columns);
    }
  }

  void TakeRows(int64_t most, uint64_t seed) {
    const KeyStore& keys = search_.keys();
    Random random(seed, 1);
    const int64_t visible = keys.visible_rows();
    const int64_t wanted = std::min({most, std::max(kFewestQueries, visible / 8), visible});
    while (static_cast<int64_t>(rows_.size()) < wanted) {
      const auto row = static_cast<int64_t>(random.Below(static_cast<uint64_t>(keys.rows())));
      if (!keys.hidden(row)) rows_.push_back(row);
    }
    std::sort(rows_.begin(), rows_.end());
    std::vector<float> scratch(static_cast<size_t>(keys.dim()));
    for (const int64_t row : rows_) {
      const float* key = keys.Rows(row, 1, scratch.data());
      queries_.insert(queries_.end(), key, key + keys.dim());
    }
  }

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
  std::vector<int64_t> rows_;  // that ask; empty where the queries were given
  std::vector<float> queries_;
  std::vector<Question> questions_;
  Neighbors truth_;
};

// Reaches that are tried: powers of 1.06.
double Reach(int64_t step) {
  return std::pow(1.06, static_cast<double>(step));
}
constexpr int64_t kFirstStep = -40, kLastStep = 1000;

bool Suffices(const Trial::Outcome& outcome, double recall) {
  return outcome.mean - 2 * outcome.standard_error >= recall;
}

// Whether a scan of all keys costs less.  Counted, not timed, so that the same seed gives the same
// index: in a batch, a row of a list takes about twice as long as one of all rows in order, and a
// visit as long as 80 of these (docs/decisions/approximate_search.md).
bool ExactIsQuicker(const InvertedFile& file, const Trial::Outcome& outcome) {
  return 2 * outcome.rows + static_cast<double>(file.lists()) + 80 * outcome.lists >
         static_cast<double>(file.rows());
}

class Chooser {
 public:
  Chooser(const InvertedFile& file, double recall) : file_(file), recall_(recall) {}

  // To be called for ascending k: more neighbors need about as far a reach, or a farther one.
  Result<MeasuredEffort> ChooseFor(int64_t k, const Trial& trial) {
    const int64_t most_depth = MostDepth(k, file_.code_bits());
    effort_ = {k, 0, effort_.lists, most_depth};
    RESMEM_ASSIGN_OR_RETURN(const bool found, FindReach(trial));
    if (!found) return MeasuredEffort{{k, 0, file_.lists(), most_depth}, 1, true};
    Trial::Outcome outcome;
    for (const int64_t parts : {33, 34, 36, 40, 48, 64, 96, 128, 192, 256, 384, 512}) {
      effort_.depth = std::min(k * parts / 32, most_depth);
      RESMEM_ASSIGN_OR_RETURN(outcome, Try(trial, step_));
      if (Suffices(outcome, recall_) || effort_.depth == most_depth) break;
    }
    // Back by what the codes did not lose.
    for (; step_ > kFirstStep; --step_) {
      RESMEM_ASSIGN_OR_RETURN(const Trial::Outcome less, Try(trial, step_ - 1));
      if (!Suffices(less, recall_)) break;
      outcome = less;
    }
    effort_.reach = Reach(step_);
    effort_.lists = std::lround(outcome.lists);
    return MeasuredEffort{effort_, outcome.mean, false};
  }

 private:
  Result<Trial::Outcome> Try(const Trial& trial, int64_t step) {
    effort_.reach = Reach(step);
    RESMEM_ASSIGN_OR_RETURN(const Trial::Outcome outcome, trial.Measure(effort_));
    effort_.lists = std::lround(outcome.lists);
    return outcome;
  }

  // The shortest that suffices, as step_; false where exact search is quicker.  In growing strides
  // from slightly below the last k's, so that few trials read many lists.
  Result<bool> FindReach(const Trial& trial) {
    // The lists alone should lose less than was allowed, so that the codes may lose the rest.
    const double of_lists = recall_ + (1 - recall_) / 10;
    int64_t low = std::max(step_ - 8, kFirstStep), high = kLastStep + 1;
    Trial::Outcome at_high;
    for (int64_t stride = 4; low < high;) {
      const bool enough = high <= kLastStep;
      // Not (low + high) / 2, which rounds up below zero.
      const int64_t step = enough ? low + (high - low) / 2 : std::min(low + stride, kLastStep);
      RESMEM_ASSIGN_OR_RETURN(const Trial::Outcome outcome, Try(trial, step));
      if (Suffices(outcome, of_lists)) {
        high = step;
        at_high = outcome;
      } else if (ExactIsQuicker(file_, outcome)) {
        return false;
      } else {
        low = step + 1;
        stride *= 2;
      }
    }
    step_ = high;
    return high <= kLastStep && !ExactIsQuicker(file_, at_high);
  }

  const InvertedFile& file_;
  const double recall_;
  SearchEffort effort_;        // of the last trial
  int64_t step_ = kFirstStep;  // of the last k
};

}  // namespace

Result<std::vector<MeasuredEffort>> ChooseEffort(const ListSearch& search, const KnnIndex& exact,
                                                 const EffortGoal& goal, int threads,
                                                 Progress* progress) {
  std::set<int64_t> served(std::begin(kEffortLadder), std::end(kEffortLadder));
  if (goal.k >= 1 && goal.k <= kMostNeighbors) served.insert(goal.k);
  Trial few(search, threads), many(search, threads);
  RESMEM_RETURN_IF_ERROR(few.Ask(exact, goal, kQueriesOfFew, kFewNeighbors, progress));
  RESMEM_RETURN_IF_ERROR(many.Ask(exact, goal, kQueriesOfMany, kMostNeighbors, progress));
  Chooser chooser(search.file(), goal.recall);
  std::vector<MeasuredEffort> chosen;
  const auto report = [&] {
    if (progress != nullptr) {
      progress->Report("effort", std::ssize(chosen), static_cast<int64_t>(served.size()));
    }
  };
  for (const int64_t k : served) {
    report();
    if (progress != nullptr && progress->Cancelled()) {
      return Status(ErrorCode::kCancelled, "indexing was stopped");
    }
    const Trial& trial = k <= kFewNeighbors ? few : many;
    if (!trial.asks()) {
      const int64_t depth = MostDepth(k, search.file().code_bits());
      chosen.push_back({{k, 0, search.file().lists(), depth}, 1.0, true});
      continue;
    }
    if (trial.most() < 1) {
      chosen.push_back({{k, 1, 1, k}, 1.0, false});
      continue;
    }
    RESMEM_ASSIGN_OR_RETURN(const MeasuredEffort effort, chooser.ChooseFor(k, trial));
    chosen.push_back(effort);
  }
  report();
  return chosen;
}

}  // namespace resmem
