#include "tune/blend/blend_sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/parallel.h"

namespace resmem {
namespace {

// 0 .. 100; none of no values.
std::vector<float> Percentiles(std::vector<float> values) {
  std::vector<float> at;
  std::sort(values.begin(), values.end());
  for (size_t percent = 0; percent <= 100 && !values.empty(); ++percent) {
    at.push_back(values[(values.size() - 1) * percent / 100]);
  }
  return at;
}

}  // namespace

BlendSample::BlendSample(const ResidualMemory& memory, const ValidationRows& rows,
                         int64_t memory_limit)
    : memory_(memory),
      classify_(memory.description().task == Task::kClassification),
      classes_(memory.description().outputs) {
  const int64_t row_bytes =
      classify_ ? classes_ * static_cast<int64_t>((Blend::kParts + 1) * sizeof(float)) : 1;
  const int64_t most = std::clamp<int64_t>(memory_limit / row_bytes, 1, rows.rows);
  int64_t taken = 0;  // `most` times the row's number, modulo the rows
  for (const ValidationBlock& block : rows.blocks) {
    for (int64_t q = 0; q < block.count(); ++q) {
      taken += most;
      if (taken < rows.rows) continue;
      taken -= rows.rows;
      places_.push_back({&block, q});
      labels_.push_back(classify_ ? block.labels[static_cast<size_t>(q)] : 0);
      folds_.push_back(block.folds[static_cast<size_t>(q)]);
      if (!block.slices.empty()) slices_.push_back(block.slices[static_cast<size_t>(q)]);
    }
  }
  gates_.resize(places_.size());
  if (classify_) {
    parts_.resize(places_.size() * Blend::kParts * static_cast<size_t>(classes_));
    labels_sum_.resize(places_.size() * static_cast<size_t>(classes_));
  }
  if (!classify_) errors_.resize(places_.size());
}

void BlendSample::Load(const BlendPoint& point, float base_temperature, int threads) {
  const bool same_neighbors = classify_ && point.parameters == loaded_;
  loaded_ = point.parameters;
  const BlendRow row_of(memory_, CacheFor(point.parameters.temperature));
  std::vector<BlendRow> scratch(static_cast<size_t>(threads), row_of);
  ParallelFor(threads, rows(), 16, [&](int64_t begin, int64_t end, int worker) {
    for (int64_t row = begin; row < end; ++row) {
      LoadRow(point, base_temperature, row, same_neighbors, &scratch[static_cast<size_t>(worker)]);
    }
  });
}

ResidualCache* BlendSample::CacheFor(float temperature) {
  if (memory_.description().form != ResidualForm::kLogits ||
      !ResidualCache::Fits(memory_.capacity(), classes_)) {
    return nullptr;
  }
  if (!cache_ || cache_->temperature() != temperature) {
    cache_ = std::make_unique<ResidualCache>(memory_.capacity(), classes_, temperature);
  }
  return cache_.get();
}

void BlendSample::LoadRow(const BlendPoint& point, float base_temperature, int64_t row,
                          bool same_neighbors, BlendRow* scratch) {
  const auto i = static_cast<size_t>(row);
  const auto& [block, q] = places_[i];
  const std::span<const int64_t> neighbors = block->neighbors.rows_of(q);
  const std::span<const float> distances = block->neighbors.distances_of(q);
  const std::span<const float> logits = block->logits().row_span(q);
  if (classify_) {
    const std::span<float> labels =
        std::span(labels_sum_)
            .subspan(i * static_cast<size_t>(classes_), static_cast<size_t>(classes_));
    if (same_neighbors) {
      scratch->Restore(labels, part(row, kResidualPart), gates_[i]);
    } else {
      scratch->LoadNeighbors(neighbors, distances, point.parameters);
      std::ranges::copy(scratch->labels(), labels.begin());
    }
    scratch->LoadLogs(logits, point.prior, base_temperature);
    for (size_t j = 0; j < Blend::kParts; ++j) {
      std::ranges::copy(scratch->part(j),
                        parts_.begin() + static_cast<int64_t>(i * Blend::kParts + j) * classes_);
    }
  } else {
    scratch->LoadRegression(neighbors, distances, point.parameters);
    Errors errors;
    const std::span<const float> residual = scratch->part(kResidualPart);
    const float* const target = &block->target_values[static_cast<size_t>(q * classes_)];
    for (size_t c = 0; c < residual.size(); ++c) {
      const double e = static_cast<double>(target[c]) - static_cast<double>(logits[c]);
      const auto r = static_cast<double>(residual[c]);
      errors.ee += e * e;
      errors.er += e * r;
      errors.rr += r * r;
    }
    const auto outputs = static_cast<double>(classes_);
    errors_[i] = {errors.ee / outputs, errors.er / outputs, errors.rr / outputs};
  }
  gates_[i] = scratch->gates();
}

Blend BlendSample::Describe(const BlendPoint& point, float base_temperature) const {
  Blend blend;
  blend.parameters = point.parameters;
  blend.prior = point.prior;
  blend.base_temperature = base_temperature;
  std::vector<float> distances, spreads;
  std::array<double, Blend::kGates> sums{}, squares{};
  for (const BlendGates& gates : gates_) {
    if (!gates.neighbors) continue;
    distances.push_back(gates.distance);
    if (classify_) spreads.push_back(gates.spread);
    for (size_t m = 0; m < Blend::kGates; ++m) sums[m] += static_cast<double>(gates.u[m]);
  }
  if (distances.empty()) distances.push_back(0);
  const auto count = static_cast<double>(distances.size());
  for (size_t m = 0; m < Blend::kGates; ++m) {
    const double mean = sums[m] / count;
    for (const BlendGates& gates : gates_) {
      if (!gates.neighbors) continue;
      const double away = static_cast<double>(gates.u[m]) - mean;
      squares[m] += away * away;
    }
    // Where all are equal there is nothing to learn from the gate: it is 0 then.
    const double deviation = std::sqrt(squares[m] / count);
    blend.gate_means[m] = static_cast<float>(mean);
    blend.gate_deviations[m] = deviation > 1e-4 ? static_cast<float>(deviation) : 1.0f;
  }
  blend.distances = Percentiles(std::move(distances));
  blend.spreads = Percentiles(std::move(spreads));
  return blend;
}

}  // namespace resmem
