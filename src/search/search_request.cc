#include "search/search_request.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>

#include "support/checked_math.h"
#include "support/text.h"

namespace resmem {

Status CheckSearch(MatrixView queries, const SearchOptions& options, int64_t dim, int64_t rows) {
  if (options.k < 1) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("k is ", options.k, "; ask for at least 1 neighbor"));
  }
  if (queries.columns != dim) {
    return Status(ErrorCode::kBadData,
                  Text("queries have ", queries.columns, " values a row, the keys ", dim,
                       "; use the embedding layer that the keys came from"));
  }
  if (!options.exclude.empty() && static_cast<int64_t>(options.exclude.size()) != queries.rows) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("exclude has ", options.exclude.size(), " entries for ", queries.rows,
                       " queries; give one for each, or none"));
  }
  for (size_t q = 0; q < options.exclude.size(); ++q) {
    if (options.exclude[q] < -1 || options.exclude[q] >= rows) {
      return Status(ErrorCode::kInvalidArgument,
                    Text("exclude[", q, "] is ", options.exclude[q], "; rows run from 0 to ",
                         rows - 1, ", and -1 excludes nothing"));
    }
  }
  for (int64_t q = 0; q < queries.rows; ++q) {
    const float* query = queries.row(q);
    for (int64_t i = 0; i < dim; ++i) {
      if (!std::isfinite(query[i])) {
        return Status(ErrorCode::kBadData, Text("query ", q, ", column ", i, " is ", query[i],
                                                "; every value must be finite"));
      }
    }
  }
  return Status();
}

Status PrepareNeighbors(int64_t queries, int64_t k, bool squared, Neighbors* out) {
  const auto cells = CheckedMultiply(queries, k);
  const auto bytes = cells ? CheckedMultiply(*cells, 20) : std::nullopt;
  try {
    if (!bytes) throw std::bad_alloc();
    out->queries = queries;
    out->k = k;
    out->rows.assign(static_cast<size_t>(*cells), -1);
    out->distances.assign(static_cast<size_t>(*cells), std::numeric_limits<float>::infinity());
    out->squared.assign(squared ? static_cast<size_t>(*cells) : 0,
                        std::numeric_limits<double>::infinity());
  } catch (const std::exception&) {  // bad_alloc, length_error
    *out = Neighbors();
    return Status(ErrorCode::kResourceExhausted,
                  Text("no memory for the ", k, " neighbors of ", queries,
                       " queries; ask for fewer at a time"));
  }
  return Status();
}

void WriteNeighbors(std::span<const MeasuredRow> nearest, int64_t query, Neighbors* out) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  int64_t cell = query * out->k;
  for (const MeasuredRow& measured : nearest) {
    out->rows[cell] = measured.row;
    if (!out->squared.empty()) out->squared[cell] = measured.squared_distance;
    out->distances[cell] =
        static_cast<float>(std::min(std::sqrt(measured.squared_distance), kLargest));
    ++cell;
  }
}

}  // namespace resmem
