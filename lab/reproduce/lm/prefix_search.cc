#include "reproduce/lm/prefix_search.h"

#include <algorithm>
#include <limits>

#include "console/interrupt.h"

namespace resmem::cli::reproduce::lm {
namespace {

// Takes the neighbors that a part has found, rows counted from its first, into `best`.
void Merge(const Neighbors& part, int64_t first_row, Neighbors* best) {
  const auto k = static_cast<size_t>(best->k);
  std::vector<int64_t> rows(k);
  std::vector<float> distances(k);
  for (int64_t query = 0; query < best->queries; ++query) {
    const std::span<const int64_t> old_rows = best->rows_of(query), new_rows = part.rows_of(query);
    const std::span<const float> old_distances = best->distances_of(query);
    const std::span<const float> new_distances = part.distances_of(query);
    size_t a = 0, b = 0;
    for (size_t i = 0; i < k; ++i) {
      // Of equals the smaller row number, which is the old one's.
      const bool take_new = b < new_rows.size() && new_rows[b] >= 0 &&
                            (old_rows[a] < 0 || new_distances[b] < old_distances[a]);
      rows[i] = take_new ? first_row + new_rows[b] : old_rows[a];
      distances[i] = take_new ? new_distances[b] : old_distances[a];
      ++(take_new ? b : a);
    }
    std::copy(rows.begin(), rows.end(), best->rows.begin() + query * best->k);
    std::copy(distances.begin(), distances.end(), best->distances.begin() + query * best->k);
  }
}

}  // namespace

Status SearchPrefixes(const ResidualMemory& memory, MatrixView queries,
                      std::span<const int64_t> ends, const PrefixSearchOptions& options,
                      Console& console,
                      const std::function<void(size_t end, const Neighbors& neighbors)>& found) {
  Neighbors best, part;
  best.queries = queries.rows;
  best.k = options.k;
  best.rows.assign(static_cast<size_t>(queries.rows * options.k), -1);
  best.distances.assign(best.rows.size(), std::numeric_limits<float>::infinity());
  const int64_t dim = memory.description().dim;
  std::vector<float> keys;
  int64_t begin = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    while (begin < ends[i]) {
      RESMEM_RETURN_IF_ERROR(CheckInterrupt());
      console.progress()->Report("searching", begin, ends.back());
      const int64_t end = std::min(begin + options.part_rows, ends[i]);
      keys.resize(static_cast<size_t>((end - begin) * dim));
      for (int64_t row = begin; row < end; ++row) {
        memory.DecodeKey(row, std::span(keys).subspan(static_cast<size_t>((row - begin) * dim),
                                                      static_cast<size_t>(dim)));
      }
      KeyBlock block;
      block.data = keys.data();
      block.rows = end - begin;
      RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<KnnIndex> index, MakeExactIndex(dim, {block}));
      SearchOptions search;
      search.k = options.k;
      search.threads = options.threads;
      RESMEM_RETURN_IF_ERROR(index->Search(queries, search, &part));
      Merge(part, begin, &best);
      begin = end;
    }
    found(i, best);
  }
  return {};
}

}  // namespace resmem::cli::reproduce::lm
