#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "resmem/knn_index.h"
#include "search/exact/candidate_measure.h"
#include "search/first_pass/batch_scan.h"
#include "search/first_pass/batch_scan_kernel.h"
#include "search/first_pass/codes/code_scan.h"
#include "search/first_pass/codes/key_codes.h"
#include "search/first_pass/error_bound.h"
#include "search/first_pass/interleaved/interleaved_scan.h"
#include "search/first_pass/key_geometry.h"
#include "search/first_pass/rounded/rounded_scan.h"
#include "search/first_pass/rounded/rounded_scan_kernel.h"
#include "search/first_pass/row_scan.h"
#include "search/kept_bytes.h"
#include "search/key_store.h"
#include "search/search_request.h"
#include "support/guard.h"
#include "support/once.h"
#include "support/parallel.h"

namespace resmem {
namespace {

constexpr int64_t kMostInTile = 512;               // queries that share a packed panel
constexpr int64_t kMostTogether = 32;              // queries that share one pass over the rows
constexpr int64_t kMostListed = int64_t{1} << 22;  // entries in all lists of a thread

// So that a single question does not pay for codes: making them takes as long as a dozen queries
// without them, roughly.
constexpr int64_t kQueriesBeforeCodes = 8;

// Likewise for batches; each takes about as long as one in which the keys are rounded.
constexpr int64_t kQueriesBeforeRounding = 128;

// At most one of the two kinds is there.
struct CodesOfKeys {
  std::optional<KeptBytes> room;
  std::optional<InterleavedKeys> interleaved;
  std::optional<KeyCodes> rows;
};

// The keys, and what is derived from them when it is first needed: opening an index reads no key.
class IndexedKeys {
 public:
  explicit IndexedKeys(KeyStore store) : store_(std::move(store)) {}

  const KeyStore& store() const { return store_; }

  // kBadData where a key is not finite.  Checks all keys before the first is read: no search of
  // this index reads one earlier.
  const Result<KeyGeometry>& geometry() const {
    geometry_once_.Run([this] {
      store_.RequireAll();
      geometry_.emplace(KeyGeometry::Compute(store_));
    });
    return *geometry_;
  }

  // For `queries` more that are to be asked by codes; empty where there are none, or not yet.
  // Requires a sound geometry().
  const CodesOfKeys& CodesFor(int64_t queries) const {
    static const CodesOfKeys none;
    if (asked_.fetch_add(queries, std::memory_order_relaxed) + queries < kQueriesBeforeCodes) {
      return none;
    }
    codes_once_.Run([this] {
      try {
        const KeyGeometry& geometry = **geometry_;
        if (!KeyCodes::Apply(store_, geometry)) return;
        codes_.room = KeptBytes::Take(KeyCodes::Bytes(store_));
        if (!codes_.room) return;
        if (InterleavedKeys::Apply(store_)) {
          codes_.interleaved.emplace(store_, geometry);
        } else {
          codes_.rows.emplace(KeyCodes::Make(store_, geometry));
        }
      } catch (const std::bad_alloc&) {
        codes_.room.reset();  // the keys themselves are read
      }
    });
    return codes_;
  }

  // For `queries` more that are asked in batches, where RoundedScanApplies(); null in the same
  // cases.
  const RoundedKeys* RoundedFor(int64_t queries) const {
    if (batched_.fetch_add(queries, std::memory_order_relaxed) + queries < kQueriesBeforeRounding) {
      return nullptr;
    }
    rounded_once_.Run([this] {
      try {
        if (!RoundedKeys::Apply(store_)) return;
        rounded_room_ = KeptBytes::Take(RoundedKeys::Bytes(store_));
        if (!rounded_room_) return;
        rounded_.emplace(store_, **geometry_);
      } catch (const std::bad_alloc&) {
        rounded_room_.reset();  // they are rounded for each batch
      }
    });
    return rounded_ ? &*rounded_ : nullptr;
  }

 private:
  const KeyStore store_;
  mutable Once geometry_once_, codes_once_, rounded_once_;
  mutable std::optional<Result<KeyGeometry>> geometry_;
  mutable CodesOfKeys codes_;
  mutable std::optional<KeptBytes> rounded_room_;
  mutable std::optional<RoundedKeys> rounded_;
  mutable std::atomic<int64_t> asked_{0}, batched_{0};
};

// One call of Search().  A query goes down these steps until one decides it:
//   batch  products in bfloat16 or float, many queries     -> candidates -> measured in double
//   codes  products of 8-bit codes, few queries            -> candidates -> measured in double
//   few    differences in float, a tighter bound           -> candidates -> measured in double
//   all    every row measured in double
// The first two are alternatives.  The last always decides, and the others only ever name a
// superset of the k nearest: the answer is the same whichever step gives it.
class ExactSearch {
 public:
  ExactSearch(const IndexedKeys& keys, const SearchOptions& options, Neighbors* out)
      : indexed_(keys),
        keys_(keys.store()),
        geometry_(*keys.geometry()),
        k_(std::min(options.k, keys_.visible_rows())),
        threads_(ResolveThreads(options.threads)),
        progress_(options.progress),
        out_(*out) {}

  Status Run(std::vector<Question> questions) {
    const int64_t count = static_cast<int64_t>(questions.size());
    if (k_ == 0 || count == 0) return Status();
    const bool bounded = keys_.dim() <= kMaxBoundedDim && k_ <= keys_.visible_rows() / 2;
    if (!bounded) return MeasureAll(questions);
    std::vector<Question> undecided;
    if (count >= kFewestInBatch * threads_ && BatchScanApplies(keys_, geometry_)) {
      RESMEM_RETURN_IF_ERROR(SearchBatch(questions, &undecided));
    } else {
      RESMEM_RETURN_IF_ERROR(SearchByCodes(indexed_.CodesFor(count), questions, &undecided));
    }
    return SearchFew(undecided);
  }

 private:
  Status SearchBatch(std::span<const Question> questions, std::vector<Question>* undecided) {
    const int64_t count = static_cast<int64_t>(questions.size());
    const bool rounded = RoundedScanApplies(keys_, geometry_);
    const RoundedKeys* made = rounded ? indexed_.RoundedFor(count) : nullptr;
    const InterleavedKeys* interleaved = nullptr;
    if (!rounded) {
      // A query of a batch costs so much less than one alone that codes pay off so much later.
      const auto& codes = indexed_.CodesFor(count / 16).interleaved;
      if (codes) interleaved = &*codes;
    }
    const int64_t group = rounded       ? kRoundedQueries
                          : interleaved ? kInterleavedQueries
                                        : ScanTileShape().queries;
    const BoundedBy bounded_by =
        rounded || interleaved ? BoundedBy::kDistance : BoundedBy::kShiftedSquare;
    ParallelFor(
        threads_, count,
        TileOf(count, rounded ? MostRoundedTogether(keys_.dim()) : kMostInTile, group),
        [&](int64_t begin, int64_t end, int) {
          const auto part =
              questions.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
          std::vector<CandidateList> lists;
          const auto stop = [this] { return Cancelled(); };
          if (rounded) {
            FindCandidatesByRounding(keys_, geometry_, made, part, k_, stop, &lists);
          } else if (interleaved != nullptr) {
            FindCandidatesInterleaved(keys_, *interleaved, part, k_, /*threads=*/1, stop, &lists);
          } else {
            FindCandidatesOfBatch(keys_, geometry_, part, k_, stop, &lists);
          }
          if (Cancelled()) return;
          std::vector<Question> open;
          WriteDecided(part, bounded_by, /*threads=*/1, &lists, &open);
          Report(end - begin - static_cast<int64_t>(open.size()));
          const std::lock_guard<std::mutex> lock(mutex_);
          undecided->insert(undecided->end(), open.begin(), open.end());
        });
    return CancelledStatus();
  }

  // Equal tiles, as many as keep all threads busy, of whole groups.
  int64_t TileOf(int64_t count, int64_t together, int64_t group) const {
    const int64_t most = std::clamp(kMostListed / (2 * k_ + 64), kFewestInBatch, together);
    const int64_t rounds = (count + most * threads_ - 1) / (most * threads_);
    return (count / (rounds * threads_) + group) / group * group;
  }

  // All are undecided where there are no codes.
  Status SearchByCodes(const CodesOfKeys& codes, std::span<const Question> questions,
                       std::vector<Question>* undecided) {
    if (codes.interleaved) {
      return SearchInParts(
          questions,
          [&](std::span<const Question> part, std::vector<CandidateList>* lists) {
            FindCandidatesInterleaved(
                keys_, *codes.interleaved, part, k_, threads_, [this] { return Cancelled(); },
                lists);
          },
          BoundedBy::kDistance, undecided);
    }
    if (codes.rows) {
      return SearchInParts(
          questions,
          [&](std::span<const Question> part, std::vector<CandidateList>* lists) {
            FindCandidatesByCodes(keys_, *codes.rows, part, k_, threads_, lists);
          },
          BoundedBy::kDistance, undecided);
    }
    undecided->assign(questions.begin(), questions.end());
    return Status();
  }

  Status SearchFew(std::span<const Question> questions) {
    std::vector<Question> undecided;
    RESMEM_RETURN_IF_ERROR(SearchInParts(
        questions,
        [&](std::span<const Question> part, std::vector<CandidateList>* lists) {
          FindCandidates(keys_, part, k_, threads_, lists);
        },
        BoundedBy::kSquaredDistance, &undecided));
    return MeasureAll(undecided);
  }

  template <class FirstPass>
  Status SearchInParts(std::span<const Question> questions, const FirstPass& first_pass,
                       BoundedBy bounded_by, std::vector<Question>* undecided) {
    while (!questions.empty()) {
      const auto part = questions.first(std::min<size_t>(questions.size(), PartSize()));
      questions = questions.subspan(part.size());
      std::vector<CandidateList> lists;
      first_pass(part, &lists);
      RESMEM_RETURN_IF_ERROR(CancelledStatus());
      const size_t before = undecided->size();
      WriteDecided(part, bounded_by, threads_, &lists, undecided);
      Report(static_cast<int64_t>(part.size() - (undecided->size() - before)));
    }
    return Status();
  }

  Status MeasureAll(std::span<const Question> questions) {
    while (!questions.empty()) {
      const auto part = questions.first(std::min<size_t>(questions.size(), PartSize()));
      questions = questions.subspan(part.size());
      std::vector<std::vector<MeasuredRow>> nearest;
      MeasureEveryRow(keys_, part, k_, threads_, &nearest);
      RESMEM_RETURN_IF_ERROR(CancelledStatus());
      for (size_t i = 0; i < part.size(); ++i) WriteNeighbors(nearest[i], part[i].number, &out_);
      Report(static_cast<int64_t>(part.size()));
    }
    return Status();
  }

  void WriteDecided(std::span<const Question> questions, BoundedBy bounded_by, int threads,
                    std::vector<CandidateList>* lists, std::vector<Question>* undecided) {
    CandidateMeasure measure(keys_, k_, threads);
    for (size_t i = 0; i < questions.size(); ++i) {
      if (!(*lists)[i].Decide(DifferenceBound::kLargestBound)) {
        undecided->push_back(questions[i]);
        continue;
      }
      WriteNeighbors(measure.Nearest(questions[i].query, (*lists)[i], bounded_by),
                     questions[i].number, &out_);
    }
  }

  size_t PartSize() const {
    return static_cast<size_t>(std::clamp<int64_t>(kMostListed / (2 * k_ + 64), 1, kMostTogether));
  }

  bool Cancelled() const { return progress_ != nullptr && progress_->Cancelled(); }
  Status CancelledStatus() const {
    return Cancelled() ? Status(ErrorCode::kCancelled, "the search was stopped") : Status();
  }
  void Report(int64_t queries) {
    if (progress_ == nullptr) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ += queries;
    progress_->Report("queries", done_, out_.queries);
  }

  const IndexedKeys& indexed_;
  const KeyStore& keys_;
  const KeyGeometry& geometry_;
  const int64_t k_;
  const int threads_;
  Progress* const progress_;
  Neighbors& out_;  // each query's line is written by one thread
  std::mutex mutex_;
  int64_t done_ = 0;
};

class ExactIndex : public KnnIndex {
 public:
  explicit ExactIndex(KeyStore keys) : keys_(std::move(keys)) {}

  int64_t rows() const override { return keys_.store().rows(); }
  int64_t dim() const override { return keys_.store().dim(); }

  Status Search(MatrixView queries, const SearchOptions& options, Neighbors* out) const override
      try {
    RESMEM_RETURN_IF_ERROR(CheckSearch(queries, options, dim(), rows()));
    RESMEM_RETURN_IF_ERROR(PrepareNeighbors(queries.rows, options.k, options.squared, out));
    if (!keys_.geometry().ok()) return keys_.geometry().status();
    std::vector<Question> questions;
    questions.reserve(static_cast<size_t>(queries.rows));
    for (int64_t q = 0; q < queries.rows; ++q) {
      questions.push_back({queries.row(q), options.exclude.empty() ? -1 : options.exclude[q], q});
    }
    return ExactSearch(keys_, options, out).Run(std::move(questions));
  } catch (...) {
    return CaughtException("search");
  }

 private:
  IndexedKeys keys_;
};

}  // namespace

Result<std::unique_ptr<KnnIndex>> MakeExactIndex(int64_t dim, std::vector<KeyBlock> blocks,
                                                 std::vector<int64_t> hidden) try {
  RESMEM_ASSIGN_OR_RETURN(KeyStore keys, KeyStore::Make(dim, std::move(blocks), std::move(hidden)));
  return MakeExactIndex(std::move(keys));
} catch (...) {
  return CaughtException("build the index");
}

Result<std::unique_ptr<KnnIndex>> MakeExactIndex(KeyStore keys) {
  return std::unique_ptr<KnnIndex>(std::make_unique<ExactIndex>(std::move(keys)));
}

}  // namespace resmem
