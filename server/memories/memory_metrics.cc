#include "memories/memory_metrics.h"

#include <algorithm>
#include <cmath>

namespace resmem::serve {
namespace {

constexpr double kPercentiles[] = {1, 5, 10, 25, 50, 75, 90, 95, 99, 100};
constexpr float kUnknown = 99;  // from here on the blend's answer is the base's

}  // namespace

void Drift::Observe(float percentile) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (window_.size() < kWindow) {
    window_.push_back(percentile);
  } else {
    window_[next_++ % kWindow] = percentile;
  }
}

std::optional<double> Drift::Distance() const {
  std::vector<float> sorted;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    sorted = window_;
  }
  if (sorted.size() < kFewest) return std::nullopt;
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  double most = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double expected = sorted[i] / 100.0;
    most = std::max({most, std::fabs(expected - static_cast<double>(i) / count),
                     std::fabs(expected - static_cast<double>(i + 1) / count)});
  }
  return most;
}

MemoryMetrics::MemoryMetrics()
    : batch_rows(SizeBounds()),
      batch_requests(SizeBounds()),
      search_seconds(LatencyBounds()),
      distance_percentile(kPercentiles),
      commit_seconds(LatencyBounds()) {}

void MemoryMetrics::Observe(const Answers& answers) {
  rows.fetch_add(answers.rows, std::memory_order_relaxed);
  int64_t with_percentile = 0, far = 0, same = 0;
  for (const float percentile : answers.percentile) {
    if (percentile < 0) continue;
    ++with_percentile;
    far += percentile >= kUnknown;
    distance_percentile.Observe(percentile);
    drift.Observe(percentile);
  }
  for (size_t i = 0; i < answers.prediction.size(); ++i) {
    same += answers.prediction[i] == answers.base_prediction[i];
  }
  measured.fetch_add(with_percentile, std::memory_order_relaxed);
  unknown.fetch_add(far, std::memory_order_relaxed);
  compared.fetch_add(static_cast<int64_t>(answers.prediction.size()), std::memory_order_relaxed);
  agreed.fetch_add(same, std::memory_order_relaxed);
}

void MemoryMetrics::Count(const Feedback& feedback) {
  both_right.fetch_add(feedback.both_right, std::memory_order_relaxed);
  both_wrong.fetch_add(feedback.both_wrong, std::memory_order_relaxed);
  fixed.fetch_add(feedback.fixed, std::memory_order_relaxed);
  harmed.fetch_add(feedback.harmed, std::memory_order_relaxed);
}

}  // namespace resmem::serve
