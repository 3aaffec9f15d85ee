#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/squared_distance.h"
#include "resmem/knn_index.h"
#include "search/key_store.h"
#include "search/nearest_list.h"
#include "search/search_request.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

class ExactIndex : public KnnIndex {
 public:
  explicit ExactIndex(KeyStore keys) : keys_(std::move(keys)) {}

  int64_t rows() const override { return keys_.rows(); }
  int64_t dim() const override { return keys_.dim(); }

  Status Search(MatrixView queries, const SearchOptions& options, Neighbors* out) const override {
    RESMEM_RETURN_IF_ERROR(CheckSearch(queries, options, dim(), rows()));
    RESMEM_RETURN_IF_ERROR(PrepareNeighbors(queries.rows, options.k, out));
    ParallelFor(options.threads, queries.rows, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t q = begin; q < end; ++q) {
        const int64_t excluded = options.exclude.empty() ? -1 : options.exclude[q];
        WriteNeighbors(MeasureEveryRow(queries.row(q), excluded, std::min(options.k, rows())), q,
                       out);
      }
    });
    return Status();
  }

 private:
  std::vector<MeasuredRow> MeasureEveryRow(const float* query, int64_t excluded, int64_t k) const {
    NearestList nearest(k);
    std::vector<float> scratch(static_cast<size_t>(dim()));
    for (int64_t row = 0; row < rows(); ++row) {
      if (row == excluded || keys_.hidden(row)) continue;
      const float* key = keys_.Rows(row, 1, scratch.data());
      nearest.Offer({SquaredDistance(query, key, dim()), row});
    }
    return nearest.Take();
  }

  KeyStore keys_;
};

}  // namespace

Result<std::unique_ptr<KnnIndex>> MakeExactIndex(int64_t dim, std::vector<KeyBlock> blocks,
                                                 std::vector<int64_t> hidden) {
  RESMEM_ASSIGN_OR_RETURN(KeyStore keys, KeyStore::Make(dim, std::move(blocks), std::move(hidden)));
  return std::unique_ptr<KnnIndex>(std::make_unique<ExactIndex>(std::move(keys)));
}

}  // namespace resmem
