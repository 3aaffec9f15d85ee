// What is counted of one memory.
#ifndef RESMEM_SERVER_MEMORIES_MEMORY_METRICS_H_
#define RESMEM_SERVER_MEMORIES_MEMORY_METRICS_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "memories/answer.h"
#include "memories/journal.h"
#include "operation/metrics.h"

namespace resmem::serve {

// How far what is asked has moved from what the memory was tuned on.  The percentile of a query's
// distance among the tuning rows is spread evenly over 0 .. 100 while nothing has changed.
class Drift {
 public:
  static constexpr size_t kWindow = 1000;  // latest queries
  static constexpr size_t kFewest = 100;

  void Observe(float percentile);
  // The largest difference between the share of queries up to a percentile and that percentile, 0
  // .. 1 (Kolmogorov and Smirnov's); none below kFewest queries.
  std::optional<double> Distance() const;

 private:
  mutable std::mutex mutex_;
  std::vector<float> window_;
  size_t next_ = 0;
};

struct MemoryMetrics {
  MemoryMetrics();
  void Observe(const Answers& answers);
  void Count(const Feedback& feedback);

  Histogram batch_rows, batch_requests, search_seconds, distance_percentile;
  std::atomic<int64_t> rows{0};                  // answered
  std::atomic<double> latest_search{1};          // seconds
  std::atomic<int64_t> measured{0}, unknown{0};  // with a percentile; of these at 99 or above
  std::atomic<int64_t> compared{0}, agreed{0};   // classification: base and memory say the same
  std::atomic<int64_t> learned{0}, forgotten{0}, commits{0}, commit_failures{0};
  Histogram commit_seconds;
  // Labelled feedback: what the base and the memory had said.
  std::atomic<int64_t> both_right{0}, both_wrong{0}, fixed{0}, harmed{0};
  Drift drift;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_MEMORY_METRICS_H_
