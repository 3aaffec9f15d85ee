#include "search/approximate/ivf_index.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "kernels/squared_distance.h"
#include "search/keep_nearest.h"
#include "search/search_request.h"
#include "support/check.h"
#include "support/guard.h"
#include "support/parallel.h"

namespace resmem {
namespace {

constexpr int64_t kMostTogether = 8192;
constexpr int64_t kMostCandidates = int64_t{1} << 22;  // about 8 bytes each

class IvfIndex : public KnnIndex {
 public:
  IvfIndex(std::vector<IndexedPart> parts, std::optional<UnindexedRows> rest, const KnnIndex& exact)
      : parts_(std::move(parts)), rest_(std::move(rest)), exact_(exact) {
    for (const IndexedPart& part : parts_) indexed_rows_ += part.search->file().rows();
    RESMEM_DCHECK(indexed_rows_ + (rest_ ? rest_->keys.rows() : 0) == exact_.rows());
  }

  int64_t rows() const override { return exact_.rows(); }
  int64_t dim() const override { return exact_.dim(); }

  bool Approximate(int64_t k) const override { return !ExactIsQuicker(k); }

  Status Search(MatrixView queries, const SearchOptions& options, Neighbors* out) const override
      try {
    RESMEM_RETURN_IF_ERROR(CheckSearch(queries, options, dim(), rows()));
    if (ExactIsQuicker(options.k)) return exact_.Search(queries, options, out);
    RESMEM_RETURN_IF_ERROR(PrepareNeighbors(queries.rows, options.k, options.squared, out));
    std::vector<Question> questions;
    std::vector<int64_t> out_of_reach;
    for (int64_t q = 0; q < queries.rows; ++q) {
      if (InReach(queries.row(q))) {
        questions.push_back({queries.row(q), options.exclude.empty() ? -1 : options.exclude[q], q});
      } else {
        out_of_reach.push_back(q);
      }
    }
    Neighbors of_rest;
    if (rest_) RESMEM_RETURN_IF_ERROR(SearchRest(queries, options, &of_rest));
    RESMEM_RETURN_IF_ERROR(SearchParts(questions, of_rest, options, out));
    return SearchExactly(queries, out_of_reach, options, out);
  } catch (...) {
    return CaughtException("search");
  }

 private:
  bool InReach(const float* query) const {
    return std::all_of(parts_.begin(), parts_.end(),
                       [&](const IndexedPart& part) { return part.search->InReach(query); });
  }

  // For most of the rows in lists.  The same for one query and a batch, so that answers are.
  bool ExactIsQuicker(int64_t k) const {
    if (k > kMostNeighbors) return true;
    int64_t rows = 0;
    for (const IndexedPart& part : parts_) {
      if (ChoiceFor(part, k).exact) rows += part.search->file().rows();
    }
    return 2 * rows > indexed_rows_;
  }

  // As it was measured: with its own k, which may be more than is asked for now.
  static const MeasuredEffort& ChoiceFor(const IndexedPart& part, int64_t k) {
    const auto fits =
        std::find_if(part.efforts.begin(), part.efforts.end(),
                     [&](const MeasuredEffort& choice) { return choice.effort.k >= k; });
    RESMEM_DCHECK(fits != part.efforts.end());
    return *fits;
  }

  // Queries of a thread that share a pass over the lists: as many as their candidates, rows and
  // lists, have room for.
  int64_t MostTogether(int64_t k) const {
    int64_t most = kMostTogether;
    for (const IndexedPart& part : parts_) {
      most = std::min(most, kMostCandidates / part.search->Candidates(ChoiceFor(part, k).effort));
    }
    return std::max<int64_t>(1, most);
  }

  Status SearchRest(MatrixView queries, const SearchOptions& options, Neighbors* out) const {
    SearchOptions of_rest = options;
    std::vector<int64_t> exclude(options.exclude.begin(), options.exclude.end());
    for (int64_t& row : exclude) row = row < indexed_rows_ ? -1 : row - indexed_rows_;
    of_rest.exclude = exclude;
    of_rest.squared = false;
    of_rest.progress = nullptr;
    return rest_->index->Search(queries, of_rest, out);
  }

  Status SearchParts(std::span<const Question> questions, const Neighbors& of_rest,
                     const SearchOptions& options, Neighbors* out) const {
    const int threads = ResolveThreads(options.threads);
    const auto count = static_cast<int64_t>(questions.size());
    // Alone, it may have all threads for itself.
    if (count == 1) return SearchPiece(questions, of_rest, threads, out);
    const int64_t grain =
        std::clamp<int64_t>((count + threads - 1) / threads, 1, MostTogether(options.k));
    std::mutex mutex;
    Status failure;  // of any piece
    int64_t done = 0;
    ParallelFor(threads, count, grain, [&](int64_t begin, int64_t end, int) {
      if (options.progress != nullptr && options.progress->Cancelled()) return;
      const Status status =
          SearchPiece(questions.subspan(begin, end - begin), of_rest, /*threads=*/1, out);
      const std::lock_guard<std::mutex> lock(mutex);
      if (!status.ok()) failure = status;
      done += end - begin;
      if (options.progress != nullptr) options.progress->Report("queries", done, count);
    });
    if (options.progress != nullptr && options.progress->Cancelled()) {
      return {ErrorCode::kCancelled, "the search was stopped"};
    }
    return failure;
  }

  Status SearchPiece(std::span<const Question> questions, const Neighbors& of_rest, int threads,
                     Neighbors* out) const {
    std::vector<std::vector<MeasuredRow>> measured(questions.size());
    int64_t first_row = 0;
    for (const IndexedPart& part : parts_) {
      const SearchEffort effort = ChoiceFor(part, out->k).effort;
      RESMEM_RETURN_IF_ERROR(part.search->Search(questions, effort, first_row, threads, measured));
      first_row += part.search->file().rows();
    }
    std::vector<float> scratch(static_cast<size_t>(dim()));
    for (size_t i = 0; i < questions.size(); ++i) {
      const int64_t number = questions[i].number;
      // Measured again: the float that an answer holds does not tell near-ties apart.
      for (int64_t j = 0; j < of_rest.k && of_rest.rows_of(number)[j] >= 0; ++j) {
        const int64_t row = of_rest.rows_of(number)[j];
        const float* key = rest_->keys.Rows(row, 1, scratch.data());
        measured[i].push_back(
            {SquaredDistance(questions[i].query, key, dim()), indexed_rows_ + row});
      }
      KeepNearest(out->k, &measured[i]);
      WriteNeighbors(measured[i], number, out);
    }
    return {};
  }

  Status SearchExactly(MatrixView queries, std::span<const int64_t> numbers,
                       const SearchOptions& options, Neighbors* out) const {
    for (const int64_t q : numbers) {
      SearchOptions one = options;
      if (!options.exclude.empty()) one.exclude = options.exclude.subspan(q, 1);
      one.progress = nullptr;
      Neighbors found;
      RESMEM_RETURN_IF_ERROR(exact_.Search(queries.Slice(q, 1), one, &found));
      std::copy(found.rows.begin(), found.rows.end(), out->rows.begin() + q * out->k);
      std::copy(found.distances.begin(), found.distances.end(),
                out->distances.begin() + q * out->k);
      if (options.squared) {
        std::copy(found.squared.begin(), found.squared.end(), out->squared.begin() + q * out->k);
      }
    }
    return {};
  }

  std::vector<IndexedPart> parts_;
  std::optional<UnindexedRows> rest_;
  const KnnIndex& exact_;
  int64_t indexed_rows_ = 0;
};

}  // namespace

std::unique_ptr<KnnIndex> MakeIvfIndex(std::vector<IndexedPart> parts,
                                       std::optional<UnindexedRows> rest, const KnnIndex& exact) {
  return std::make_unique<IvfIndex>(std::move(parts), std::move(rest), exact);
}

}  // namespace resmem
