#include "predict/blend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/vector_math.h"
#include "predict/blend_kernels.h"
#include "predict/portable_log.h"

namespace resmem {
namespace {

constexpr float kMostDeviations = 3;
// Distances below this share of sigma weigh the same; it keeps log d finite for copies.
constexpr float kLeastDistance = 1e-3f;
// Percentiles.  Chosen on shifted images of Fashion-MNIST that no test uses
// (docs/results/guard.md).  Distance alone, without the spread, has to begin earlier.
constexpr size_t kFarBegins = 95, kFarBeginsAlone = 90, kFarEnds = 99;
constexpr size_t kFlatBegins = 5, kFlatEnds = 0;

// 1 up to `begin`, 0 from `end` on.
float Ramp(float begin, float end, float value) {
  if (value <= begin) return 1;
  if (value >= end) return 0;
  return (end - value) / (end - begin);
}

}  // namespace

BlendGates GatesOf(std::span<const float> distances, const WeightedNeighbors& neighbors,
                   float sigma) {
  BlendGates gates;
  const size_t count = neighbors.rows.size();
  if (count == 0) return gates;
  gates.neighbors = true;
  gates.distance = distances[std::min(kGuardNeighbor, count) - 1];
  const float least = std::max(kLeastDistance * sigma, std::numeric_limits<float>::min());
  // 1 / sum of the squared normalized weights.
  double squares = 0;
  for (const float weight : neighbors.weights) {
    const double share = static_cast<double>(weight) * neighbors.scale;
    squares += share * share;
  }
  gates.u = {PortableLog(std::max(distances[0], least)),
             PortableLog(std::max(distances[count - 1], least)),
             PortableLog(static_cast<float>(1 / squares))};
  return gates;
}

std::array<float, Blend::kGates> ScaledGates(const Blend& blend, const BlendGates& gates) {
  std::array<float, Blend::kGates> scaled{};
  for (size_t m = 0; m < Blend::kGates; ++m) {
    scaled[m] = std::clamp((gates.u[m] - blend.gate_means[m]) / blend.gate_deviations[m],
                           -kMostDeviations, kMostDeviations);
  }
  return scaled;
}

float FadeOf(const Blend& blend, const BlendGates& gates) {
  if (!gates.neighbors) return 0;
  const auto far = [&](size_t begins) {
    return Ramp(blend.distances[begins], blend.distances[kFarEnds], gates.distance);
  };
  if (blend.spreads.empty()) return far(kFarBeginsAlone);
  return far(kFarBegins) *
         Ramp(-blend.spreads[kFlatBegins], -blend.spreads[kFlatEnds], -gates.spread);
}

float PercentileOf(const Blend& blend, float distance) {
  const std::vector<float>& at = blend.distances;
  // Of equal ones the first: a row is not farther than those at the same distance.
  const auto next = std::lower_bound(at.begin(), at.end(), distance);
  if (next == at.begin()) return 0;
  if (next == at.end()) return 100;
  const float low = *(next - 1), high = *next;
  return static_cast<float>(next - at.begin() - 1) + (distance - low) / (high - low);
}

std::array<float, Blend::kParts> CoefficientsOf(const Blend& blend, const BlendGates& gates) {
  const float fade = FadeOf(blend, gates);
  const std::array<float, Blend::kGates> u = ScaledGates(blend, gates);
  std::array<float, Blend::kParts> b{};
  for (size_t j = 0; j < Blend::kParts; ++j) {
    const auto& line = blend.coefficients[j];
    float value = line[0];
    for (size_t m = 0; m < Blend::kGates; ++m) value += line[m + 1] * u[m];
    b[j] = fade == 0 ? 0.0f : fade * value;
  }
  b[kBasePart] += (1 - fade) / blend.base_temperature;
  return b;
}

BlendRow::BlendRow(const ResidualMemory& memory) : BlendRow(memory, Correction(memory)) {}

BlendRow::BlendRow(const ResidualMemory& memory, ResidualCache* cache)
    : BlendRow(memory, Correction(memory, cache)) {}

BlendRow::BlendRow(const ResidualMemory& memory, Correction correction)
    : memory_(&memory),
      classify_(memory.description().task == Task::kClassification),
      correction_(std::move(correction)) {
  const auto outputs = static_cast<size_t>(memory.description().outputs);
  for (auto& part : parts_) part.resize(outputs);
  for (auto* values : {&base_, &log_base_, &labels_, &expected_, &scratch_, &label_sums_}) {
    values->resize(outputs);
  }
}

void BlendRow::Weigh(std::span<const int64_t> rows, std::span<const float> distances,
                     const Parameters& parameters) {
  correction_.Weigh(rows, distances, parameters);
  gates_ = GatesOf(distances, correction_.neighbors(), parameters.sigma);
  std::ranges::fill(parts_[kResidualPart], 0.0f);
  correction_.AddTo(parameters.temperature, parts_[kResidualPart]);
}

void BlendRow::Load(std::span<const float> logits, std::span<const int64_t> rows,
                    std::span<const float> distances, const Parameters& parameters, float prior,
                    float base_temperature) {
  LoadNeighbors(rows, distances, parameters);
  LoadLogs(logits, prior, base_temperature);
}

void BlendRow::LoadNeighbors(std::span<const int64_t> rows, std::span<const float> distances,
                             const Parameters& parameters) {
  Weigh(rows, distances, parameters);
  if (correction_.empty()) return;
  correction_.SumAnswers(labels_);
  for (float& label : labels_) label *= correction_.neighbors().scale;
}

void BlendRow::Restore(std::span<const float> labels, std::span<const float> residual,
                       const BlendGates& gates) {
  std::ranges::copy(labels, labels_.begin());
  std::ranges::copy(residual, parts_[kResidualPart].begin());
  gates_ = gates;
}

void BlendRow::LoadLogs(std::span<const float> logits, float prior, float base_temperature) {
  const auto outputs = static_cast<int64_t>(logits.size());
  gates_.spread = BaseLogs(logits.data(), outputs, base_temperature, parts_[kBasePart].data(),
                           base_.data(), log_base_.data());
  if (!gates_.neighbors) {
    std::ranges::fill(parts_[kLabelsPart], 0.0f);
    std::ranges::fill(parts_[kExpectedPart], 0.0f);
    return;
  }
  const auto log_mixture = [&](const std::vector<float>& sum, size_t part) {
    LogMixture(sum.data(), prior, base_.data(), log_base_.data(), outputs, parts_[part].data());
  };
  log_mixture(labels_, kLabelsPart);
  // B = A - (A - B); rounding may leave it a trifle below 0.
  for (size_t c = 0; c < labels_.size(); ++c) expected_[c] = labels_[c] - parts_[kResidualPart][c];
  log_mixture(expected_, kExpectedPart);
}

void BlendRow::LoadRegression(std::span<const int64_t> rows, std::span<const float> distances,
                              const Parameters& parameters) {
  Weigh(rows, distances, parameters);
}

void BlendRow::Answer(const Blend& blend, std::span<const float> logits,
                      std::span<float> out) const {
  const std::array<float, Blend::kParts> b = CoefficientsOf(blend, gates_);
  if (!classify_) {
    for (size_t c = 0; c < out.size(); ++c) {
      out[c] = logits[c] + b[kResidualPart] * parts_[kResidualPart][c];
    }
    return;
  }
  const auto outputs = static_cast<int64_t>(out.size());
  const float* const parts[] = {parts_[0].data(), parts_[1].data(), parts_[2].data(),
                                parts_[3].data()};
  CombineParts(b.data(), parts, outputs, out.data());
  Softmax(out.data(), outputs, 1.0f, out.data());
}

void BlendRow::SumLabels(std::span<const float> sum) {
  const WeightedNeighbors& neighbors = correction_.neighbors();
  labeled_.clear();
  labeled_.reserve(neighbors.rows.size());
  for (size_t i = 0; i < neighbors.rows.size(); ++i) {
    const auto label = static_cast<size_t>(memory_->label(neighbors.rows[i]));
    if (label_sums_[label] == 0) labeled_.push_back({label, sum[label] * neighbors.scale});
    label_sums_[label] += neighbors.weights[i];
  }
}

void BlendRow::Predict(const Blend& blend, const Parameters& parameters,
                       std::span<const float> logits, std::span<const int64_t> rows,
                       std::span<const float> distances, std::span<float> out) {
  const auto outputs = static_cast<int64_t>(out.size());
  correction_.Weigh(rows, distances, parameters);
  gates_ = GatesOf(distances, correction_.neighbors(), parameters.sigma);
  if (correction_.empty()) {
    return Softmax(logits.data(), outputs, blend.base_temperature, out.data());
  }
  const std::span<float> sum = correction_.Sum(parameters.temperature, out.data());
  SumLabels(sum);
  EtaTerms terms;
  terms.scale = correction_.neighbors().scale;
  terms.prior = blend.prior;
  terms.base_temperature = blend.base_temperature;
  terms.shape = BaseExponentials(logits.data(), outputs, blend.base_temperature, scratch_.data());
  gates_.spread = terms.shape.spread;
  const std::array<float, Blend::kParts> b = CoefficientsOf(blend, gates_);
  std::ranges::copy(b, terms.b);
  EtaWithoutLabels(terms, logits.data(), scratch_.data(), outputs, sum.data(), out.data());
  // The few that are a neighbor's label: one by one, as LogMixture() does.
  const float log_total = PortableLog(terms.shape.total), log_prior = PortableLog(blend.prior);
  for (const auto& [label, residual] : labeled_) {
    const float labels = label_sums_[label] * correction_.neighbors().scale;
    label_sums_[label] = 0;
    const float over = std::max(logits[label] - terms.shape.largest, kLeastLog);
    const float without = (log_prior - log_total) + over * (1 / blend.base_temperature);
    const float base = blend.prior * (scratch_[label] / terms.shape.total);
    const auto log_mixture = [&](float part) {
      const bool from_sum = part > 0 && part + base >= std::numeric_limits<float>::min();
      return from_sum ? PortableLog(part + base) : without;
    };
    out[label] = b[kBasePart] * over + b[kLabelsPart] * log_mixture(labels) +
                 b[kExpectedPart] * log_mixture(labels - residual) + b[kResidualPart] * residual;
  }
  Softmax(out.data(), outputs, 1.0f, out.data());
}

}  // namespace resmem
