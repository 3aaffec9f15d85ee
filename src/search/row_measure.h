// Rows that lie anywhere in memory, measured in double one after the other: while one is measured,
// the next is on its way.
#ifndef RESMEM_SEARCH_ROW_MEASURE_H_
#define RESMEM_SEARCH_ROW_MEASURE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/squared_distance.h"
#include "search/key_store.h"

namespace resmem {

// For one thread; keeps its memory from query to query.
class RowMeasure {
 public:
  explicit RowMeasure(const KeyStore& keys)
      : keys_(keys), decoded_(static_cast<size_t>(keys.dim())) {}

  // visit(i, squared distance of query_of(i) and row row_of(i)) for i = 0, ..., count - 1.
  template <class QueryOf, class RowOf, class Visit>
  void Run(size_t count, const QueryOf& query_of, const RowOf& row_of, const Visit& visit) {
    const size_t ahead = RowsAhead();
    for (size_t i = 0; i < std::min(ahead, count); ++i) keys_.Prefetch(row_of(i));
    for (size_t i = 0; i < count; ++i) {
      const float* next = nullptr;
      if (i + ahead < count) {
        next = keys_.InPlace(row_of(i + ahead));
        if (next == nullptr) keys_.Prefetch(row_of(i + ahead));
      }
      const float* key = keys_.Rows(row_of(i), 1, decoded_.data());
      visit(i, SquaredDistance(query_of(i), key, keys_.dim(), next));
    }
  }

 private:
  // The lines of a row that lies in place are asked for one by one while another is measured: the
  // second next row is far enough, unless rows are short.
  size_t RowsAhead() const {
    constexpr size_t kMost = 8, kBytes = 1024;
    if (keys_.rows() == 0 || keys_.InPlace(0) == nullptr) return kMost;
    return std::clamp<size_t>(kBytes / (sizeof(float) * decoded_.size()), 2, kMost);
  }

  const KeyStore& keys_;
  std::vector<float> decoded_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_ROW_MEASURE_H_
