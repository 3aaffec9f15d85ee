#include "operation/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace resmem::serve {
namespace {

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

void AppendLabel(std::string_view name, std::string_view value, std::string* text) {
  *text += std::string(name) + "=\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') *text += '\\';
    *text += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  *text += '"';
}

}  // namespace

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds.begin(), bounds.end()),
      buckets_(new std::atomic<int64_t>[bounds.size() + 1]()) {}

void Histogram::Observe(double value) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  buckets_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

int64_t Histogram::count() const {
  int64_t count = 0;
  for (size_t i = 0; i <= bounds_.size(); ++i) count += bucket(i);
  return count;
}

std::span<const double> LatencyBounds() {
  static constexpr double kBounds[] = {50e-6,  100e-6, 200e-6,  400e-6, 800e-6, 1.6e-3,
                                       3.2e-3, 6.4e-3, 12.8e-3, 25e-3,  50e-3,  0.1,
                                       0.25,   0.5,    1,       2.5,    5,      10};
  return kBounds;
}

std::span<const double> SizeBounds() {
  static constexpr double kBounds[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  return kBounds;
}

void MetricsText::Family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += "# HELP " + name_ + " " + std::string(help) + "\n# TYPE " + name_ + " " +
           std::string(type) + "\n";
}

void MetricsText::Sample(const Labels& labels, double value) {
  Line("", labels, value);
}

void MetricsText::Sample(const Labels& labels, const Histogram& histogram) {
  // Read once: the count must be that of the buckets, while others observe.
  int64_t below = 0;
  for (size_t i = 0; i <= histogram.bounds().size(); ++i) {
    below += histogram.bucket(i);
    Labels with_bound = labels;
    with_bound.emplace_back(
        "le", i < histogram.bounds().size() ? NumberText(histogram.bounds()[i]) : "+Inf");
    Line("_bucket", with_bound, static_cast<double>(below));
  }
  Line("_sum", labels, histogram.sum());
  Line("_count", labels, static_cast<double>(below));
}

void MetricsText::Line(std::string_view suffix, const Labels& labels, double value) {
  text_ += name_ + std::string(suffix);
  for (size_t i = 0; i < labels.size(); ++i) {
    text_ += i == 0 ? '{' : ',';
    AppendLabel(labels[i].first, labels[i].second, &text_);
  }
  if (!labels.empty()) text_ += '}';
  text_ += ' ' + NumberText(value) + '\n';
}

}  // namespace resmem::serve
