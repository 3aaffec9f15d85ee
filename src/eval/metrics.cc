#include "eval/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/random.h"

namespace resmem {
namespace {

constexpr int64_t kMostScores = int64_t{1} << 21;  // for the AUC
constexpr int64_t kResamples = 200, kFewestResamples = 40, kMostDraws = 20'000'000;
constexpr size_t kBins = 15, kTop = 5;

// The area under the curve of one class against the rest: the share of pairs that are in the right
// order, equals counting a half.
double ClassAuc(std::vector<std::pair<float, bool>>* scores, int64_t positives) {
  std::sort(scores->begin(), scores->end());
  const int64_t negatives = std::ssize(*scores) - positives;
  double ranks = 0;
  for (size_t begin = 0; begin < scores->size();) {
    size_t end = begin;
    int64_t own = 0;
    while (end < scores->size() && (*scores)[end].first == (*scores)[begin].first) {
      own += (*scores)[end++].second ? 1 : 0;
    }
    ranks += static_cast<double>(own) * (static_cast<double>(begin + end + 1) / 2);
    begin = end;
  }
  const auto p = static_cast<double>(positives);
  return (ranks - p * (p + 1) / 2) / (p * static_cast<double>(negatives));
}

}  // namespace

MetricSums::MetricSums(int64_t classes)
    : classes_(classes),
      right_(static_cast<size_t>(classes)),
      answered_(static_cast<size_t>(classes)),
      labeled_(static_cast<size_t>(classes)) {}

void MetricSums::Add(std::span<const float> probabilities, int32_t label, int64_t answer,
                     const CalibrationRow& judged) {
  calibration_.Add(judged);
  ++rows_;
  const auto own = static_cast<size_t>(label);
  size_t before = 0;  // the first of equals comes first
  for (size_t c = 0; c < probabilities.size(); ++c) {
    before +=
        probabilities[c] > probabilities[own] || (probabilities[c] == probabilities[own] && c < own)
            ? 1
            : 0;
  }
  in_top5_ += before < kTop ? 1 : 0;
  ++labeled_[own];
  ++answered_[static_cast<size_t>(answer)];
  right_[own] += answer == label ? 1 : 0;
  judged_.push_back({judged.confidence, judged.right});
  keeps_scores_ = keeps_scores_ && rows_ * classes_ <= kMostScores;
  if (!keeps_scores_) {
    std::vector<float>().swap(scores_);
    return;
  }
  scores_.insert(scores_.end(), probabilities.begin(), probabilities.end());
  labels_.push_back(label);
}

Interval MetricSums::EceInterval() const {
  const int64_t resamples =
      std::clamp(kMostDraws / std::max<int64_t>(rows_, 1), kFewestResamples, kResamples);
  struct Bin {
    int64_t count = 0, right = 0;
    double confidence = 0;
  };
  std::vector<uint8_t> bin_of;
  for (const Judged& judged : judged_) {
    const double position = std::ceil(static_cast<double>(judged.confidence) * kBins) - 1;
    bin_of.push_back(static_cast<uint8_t>(std::clamp(position, 0.0, kBins - 1.0)));
  }
  Random random(19);
  std::vector<double> eces;
  for (int64_t i = 0; i < resamples; ++i) {
    std::array<Bin, kBins> bins{};
    for (int64_t draw = 0; draw < rows_; ++draw) {
      const size_t row = random.Below(judged_.size());
      Bin& bin = bins[bin_of[row]];
      ++bin.count;
      bin.right += judged_[row].right ? 1 : 0;
      bin.confidence += static_cast<double>(judged_[row].confidence);
    }
    double ece = 0;
    for (const Bin& bin : bins) ece += std::abs(static_cast<double>(bin.right) - bin.confidence);
    eces.push_back(ece / static_cast<double>(rows_));
  }
  std::sort(eces.begin(), eces.end());
  const auto at = [&](double share) {
    return eces[static_cast<size_t>(share * static_cast<double>(eces.size() - 1) + 0.5)];
  };
  return {at(0.025), at(0.975)};
}

double MetricSums::Auc() const {
  double sum = 0;
  int64_t classes = 0;
  std::vector<std::pair<float, bool>> scores;
  for (size_t c = 0; c < labeled_.size(); ++c) {
    if (labeled_[c] == 0 || labeled_[c] == rows_) continue;
    scores.clear();
    for (size_t row = 0; row < labels_.size(); ++row) {
      scores.emplace_back(scores_[row * labeled_.size() + c],
                          static_cast<size_t>(labels_[row]) == c);
    }
    sum += ClassAuc(&scores, labeled_[c]);
    ++classes;
  }
  return sum / static_cast<double>(classes);
}

Metrics MetricSums::Finish() const {
  Metrics metrics;
  if (rows_ == 0) return metrics;
  const Calibration calibration = calibration_.Finish();
  metrics.brier = calibration.brier;
  metrics.ece = calibration.ece;
  metrics.ece_interval = EceInterval();
  metrics.top5 = static_cast<double>(in_top5_) / static_cast<double>(rows_);
  double f1 = 0, recall = 0;
  int64_t met = 0, occur = 0;
  for (size_t c = 0; c < labeled_.size(); ++c) {
    if (labeled_[c] + answered_[c] == 0) continue;
    ++met;
    f1 += 2 * static_cast<double>(right_[c]) / static_cast<double>(labeled_[c] + answered_[c]);
    if (labeled_[c] == 0) continue;
    ++occur;
    recall += static_cast<double>(right_[c]) / static_cast<double>(labeled_[c]);
  }
  metrics.macro_f1 = f1 / static_cast<double>(met);
  metrics.balanced_accuracy = recall / static_cast<double>(occur);
  const bool several = std::count(labeled_.begin(), labeled_.end(), 0) + 1 < classes_;
  if (keeps_scores_ && several) metrics.auc = Auc();
  return metrics;
}

}  // namespace resmem
