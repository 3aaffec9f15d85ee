// Keys and queries that searches are timed on.
#ifndef RESMEM_BENCH_SEARCH_DATA_H_
#define RESMEM_BENCH_SEARCH_DATA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/matrix_view.h"

namespace resmem::bench {

struct SearchData {
  std::string name;
  int64_t dim = 0;
  std::vector<float> keys, queries;
  std::vector<float> held_out;  // queries that knobs are chosen on; may be empty

  MatrixView key_view() const {
    return MatrixView(keys.data(), static_cast<int64_t>(keys.size()) / dim, dim);
  }
  MatrixView query_view() const {
    return MatrixView(queries.data(), static_cast<int64_t>(queries.size()) / dim, dim);
  }
  MatrixView held_out_view() const {
    return MatrixView(held_out.data(), static_cast<int64_t>(held_out.size()) / dim, dim);
  }
};

// 100 clusters of unequal width, as embeddings of a classifier have; always the same values.
SearchData ClusteredData(int64_t rows, int64_t dim, int64_t queries);

// Every value between 0 and 1, alike: the hardest keys to tell apart.
SearchData UniformData(int64_t rows, int64_t dim, int64_t queries);

// Pixels of the Debian package dataset-fashion-mnist, where it is installed: 60,000 images as
// keys, of the test images the first `queries`.
std::optional<SearchData> FashionMnistData(int64_t queries);

// Keys and queries from files; the first `queries` of these.
std::optional<SearchData> ArrayData(const std::string& name, const std::string& keys,
                                    const std::string& queries, int64_t count);

// The first `rows` keys of a memory; as queries, keys spread over those behind them.
std::optional<SearchData> MemoryData(const std::string& name, const std::string& memory,
                                     int64_t rows, int64_t queries);

// Moves two of three queries to `held_out`.
void HoldOutTwoThirds(SearchData* data);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_SEARCH_DATA_H_
