// Counters and histograms, and the text in which Prometheus reads them.
// docs/decisions/service.md says why these are our own.
#ifndef RESMEM_SERVER_OPERATION_METRICS_H_
#define RESMEM_SERVER_OPERATION_METRICS_H_

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace resmem::serve {

// Any number of threads may observe at once.
class Histogram {
 public:
  // `bounds`: ascending; a last one, infinity, is added.
  explicit Histogram(std::span<const double> bounds);
  void Observe(double value);
  int64_t count() const;
  double sum() const { return sum_.load(std::memory_order_relaxed); }
  std::span<const double> bounds() const { return bounds_; }
  int64_t bucket(size_t i) const { return buckets_[i].load(std::memory_order_relaxed); }

 private:
  std::vector<double> bounds_;
  std::unique_ptr<std::atomic<int64_t>[]> buckets_;  // one more than bounds
  std::atomic<double> sum_{0};
};

// 50 us .. 10 s, and 1 .. 4096 in powers of two.
std::span<const double> LatencyBounds();
std::span<const double> SizeBounds();

using Labels = std::vector<std::pair<std::string, std::string>>;

// Writes families one after another; all samples of a family come after its head.
class MetricsText {
 public:
  // `type`: "counter", "gauge" or "histogram".
  void Family(std::string_view name, std::string_view type, std::string_view help);
  void Sample(const Labels& labels, double value);
  void Sample(const Labels& labels, const Histogram& histogram);
  const std::string& text() const { return text_; }

 private:
  void Line(std::string_view suffix, const Labels& labels, double value);
  std::string name_, text_;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_OPERATION_METRICS_H_
