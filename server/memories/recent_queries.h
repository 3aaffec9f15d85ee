// The latest queries of a memory, in this process's memory only: an edit's preview asks them again,
// and a correction may name one.
#ifndef RESMEM_SERVER_MEMORIES_RECENT_QUERIES_H_
#define RESMEM_SERVER_MEMORIES_RECENT_QUERIES_H_

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memories/row_set.h"
#include "resmem/matrix_view.h"

namespace resmem::serve {

struct RecentQuery {
  std::string request;  // its id
  int64_t row = 0;      // of the request
  std::vector<float> key, logits;
};

// Side by side, in their order.
RowSet StackQueries(std::span<const RecentQuery> queries);

class RecentQueries {
 public:
  explicit RecentQueries(size_t most) : most_(most) {}

  void Add(const std::string& request, MatrixView keys, MatrixView logits);
  std::vector<RecentQuery> All() const;  // oldest first
  std::optional<RecentQuery> Find(const std::string& request, int64_t row) const;

 private:
  const size_t most_;
  mutable std::mutex mutex_;
  std::deque<RecentQuery> queries_;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_RECENT_QUERIES_H_
