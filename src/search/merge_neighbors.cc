#include "resmem_program/merge_neighbors.h"

#include <vector>

#include "search/keep_nearest.h"
#include "search/search_request.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

Status CheckShards(std::span<const ShardNeighbors> shards, int64_t k) {
  if (shards.empty() || k < 1) {
    return {ErrorCode::kInvalidArgument, Text("merging ", k, " neighbors of ", shards.size(),
                                              " shards; both must be 1 or more")};
  }
  for (size_t i = 0; i < shards.size(); ++i) {
    const Neighbors& found = *shards[i].found;
    if (found.queries != shards[0].found->queries) {
      return {ErrorCode::kInvalidArgument,
              Text("shard ", i + 1, " answered ", found.queries, " queries, the first one ",
                   shards[0].found->queries, "; ask all of them the same")};
    }
    if (found.k < k || found.squared.size() != found.rows.size()) {
      return {ErrorCode::kInvalidArgument,
              Text("shard ", i + 1, " was asked for ", found.k, " neighbors",
                   found.squared.empty() ? " without their squared distances" : "", "; merging ", k,
                   " needs as many, with squares")};
    }
  }
  return {};
}

}  // namespace

Status MergeNeighbors(std::span<const ShardNeighbors> shards, int64_t k, Neighbors* out) try {
  RESMEM_RETURN_IF_ERROR(CheckShards(shards, k));
  const int64_t queries = shards[0].found->queries;
  RESMEM_RETURN_IF_ERROR(PrepareNeighbors(queries, k, /*squared=*/true, out));
  std::vector<MeasuredRow> rows;
  for (int64_t q = 0; q < queries; ++q) {
    rows.clear();
    for (const ShardNeighbors& shard : shards) {
      const int64_t begin = q * shard.found->k;
      for (int64_t i = begin; i < begin + k && shard.found->rows[i] >= 0; ++i) {
        rows.push_back({shard.found->squared[i], shard.first_row + shard.found->rows[i]});
      }
    }
    KeepNearest(k, &rows);
    WriteNeighbors(rows, q, out);
  }
  return {};
} catch (...) {
  return CaughtException("merge the neighbors");
}

}  // namespace resmem
