#include "shards/shard_set.h"

#include <algorithm>
#include <optional>

#include "resmem_program/merge_neighbors.h"
#include "shards/parts.h"

namespace resmem::serve {
namespace {

constexpr int64_t kMostRows = int64_t{1} << 40;

bool IsAnswer(const Result<std::string>& answer) {
  return answer.ok() || answer.status().code() == ErrorCode::kResourceExhausted;
}

}  // namespace

ShardSet::ShardSet(ShardFile file, int64_t most_bytes, bool edited)
    : file_(std::move(file)),
      edited_(edited),
      rows_(file_.shards.size()),
      client_(file_, most_bytes) {
  for (size_t i = 0; i < rows_.size(); ++i) rows_[i] = file_.shards[i].rows;
}

int64_t ShardSet::rows() const {
  int64_t rows = 0;
  for (const std::atomic<int64_t>& each : rows_) rows += each;
  return rows;
}

Result<Gathered> ShardSet::Gather(const ResidualMemory& like, MatrixView keys, int64_t k) const {
  if (!edited_) k = std::min(k, rows());
  std::vector<PartsAnswer> answers;
  std::vector<RowPart> parts;
  std::vector<int64_t> missing;
  int64_t living = 0;
  Neighbors merged;
  merged.queries = keys.rows;
  if (k > 0) {
    std::vector<Result<std::string>> came = client_.AskAll(WritePartsQuestion(keys, k));
    answers.reserve(came.size());
    for (size_t i = 0; i < came.size(); ++i) {
      const std::string where = "shard " + std::to_string(i + 1) + ": ";
      if (!IsAnswer(came[i])) {
        return Status(came[i].status().code(), where + came[i].status().message());
      }
      if (!came[i].ok()) {
        missing.push_back(static_cast<int64_t>(i) + 1);
        continue;
      }
      Result<PartsAnswer> read = ReadPartsAnswer(std::move(*came[i]), keys.rows, k,
                                                 edited_ ? kMostRows : file_.shards[i].rows);
      if (!read.ok()) return Status(ErrorCode::kCorrupt, where + read.status().message());
      if (edited_) rows_[i] = read->living;
      living += read->living;
      answers.push_back(std::move(*read));
    }
    if (edited_) k = std::min(k, living);
    std::vector<ShardNeighbors> shards;
    int64_t first = 0;
    for (const PartsAnswer& answer : answers) {
      shards.push_back({&answer.found, first});
      if (answer.part.rows == 0) continue;
      first += answer.part.rows;
      parts.push_back(answer.part);
    }
    if (!shards.empty() && k > 0) RESMEM_RETURN_IF_ERROR(MergeNeighbors(shards, k, &merged));
  }
  Result<ResidualMemory> rows = OpenRowParts(like, parts);
  if (!rows.ok()) return Status(ErrorCode::kCorrupt, "a shard: " + rows.status().message());
  return Gathered{std::move(*rows), std::move(merged), std::move(missing)};
}

std::string ShardSet::MissingText(const std::vector<int64_t>& missing) const {
  std::string text = missing.size() == 1 ? "shard " : "shards ";
  for (size_t i = 0; i < missing.size(); ++i) {
    if (i > 0) text += i + 1 == missing.size() ? " and " : ", ";
    text += std::to_string(missing[i]);
  }
  return text + " of " + std::to_string(file_.shards.size()) + " did not answer in time";
}

}  // namespace resmem::serve
