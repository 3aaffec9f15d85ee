#include "memories/recent_queries.h"

#include <algorithm>

namespace resmem::serve {

RowSet StackQueries(std::span<const RecentQuery> queries) {
  RowSet stacked;
  stacked.rows = static_cast<int64_t>(queries.size());
  for (const RecentQuery& query : queries) {
    stacked.dim = static_cast<int64_t>(query.key.size());
    stacked.outputs = static_cast<int64_t>(query.logits.size());
    stacked.keys.insert(stacked.keys.end(), query.key.begin(), query.key.end());
    stacked.logits.insert(stacked.logits.end(), query.logits.begin(), query.logits.end());
  }
  return stacked;
}

void RecentQueries::Add(const std::string& request, MatrixView keys, MatrixView logits) {
  if (most_ == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  // Of a large request its last rows.
  const int64_t first = std::max<int64_t>(0, keys.rows - static_cast<int64_t>(most_));
  for (int64_t row = first; row < keys.rows; ++row) {
    if (queries_.size() == most_) {
      queries_.push_back(std::move(queries_.front()));  // its arrays are used again
      queries_.pop_front();
    } else {
      queries_.emplace_back();
    }
    RecentQuery& query = queries_.back();
    query.request = request;
    query.row = row;
    query.key.assign(keys.row(row), keys.row(row) + keys.columns);
    query.logits.assign(logits.row(row), logits.row(row) + logits.columns);
  }
}

std::vector<RecentQuery> RecentQueries::All() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {queries_.begin(), queries_.end()};
}

std::optional<RecentQuery> RecentQueries::Find(const std::string& request, int64_t row) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto query = queries_.rbegin(); query != queries_.rend(); ++query) {
    if (query->request == request && query->row == row) return *query;
  }
  return std::nullopt;
}

}  // namespace resmem::serve
