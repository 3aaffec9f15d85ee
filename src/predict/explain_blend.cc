#include "predict/explain_blend.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "predict/blend.h"

namespace resmem {
namespace {

// One neighbor's share.  Of the residual exactly its summand; of a logarithm, by convention, what
// the neighbors together add to the base's log(a p0), in proportion to what each adds to the sum.
class Shares {
 public:
  Shares(const BlendRow& row, const Blend& blend, std::array<float, Blend::kParts> b,
         size_t outputs)
      : row_(row), b_(b), labels_(outputs), expected_(outputs), base_(outputs) {
    const std::span<const float> p0 = row.base_probabilities();
    for (size_t c = 0; c < outputs; ++c) {
      base_[c] = std::log(static_cast<double>(blend.prior)) + LogOf(p0[c]);
    }
  }

  void Count(int32_t label, double weight, std::span<const float> residual) {
    labels_[static_cast<size_t>(label)] += weight;
    for (size_t c = 0; c < residual.size(); ++c) {
      expected_[c] += weight * Expected(label, residual, c);
    }
  }

  // b times what the logarithm gains by the neighbors.
  double Labels(size_t c) const {
    return labels_[c] > 0 ? b_[kLabelsPart] * (row_.part(kLabelsPart)[c] - base_[c]) : 0;
  }
  double Expectation(size_t c) const {
    return expected_[c] > 0 ? b_[kExpectedPart] * (row_.part(kExpectedPart)[c] - base_[c]) : 0;
  }

  double Of(int32_t label, double weight, std::span<const float> residual, size_t c) const {
    double share = static_cast<double>(b_[kResidualPart]) * weight * residual[c];
    if (static_cast<size_t>(label) == c) share += Labels(c) * weight / labels_[c];
    if (expected_[c] > 0) {
      share += Expectation(c) * weight * Expected(label, residual, c) / expected_[c];
    }
    return share;
  }

 private:
  static double LogOf(float p) { return std::log(std::max(static_cast<double>(p), 1e-300)); }
  // What the base said of class c at this neighbor.
  static double Expected(int32_t label, std::span<const float> residual, size_t c) {
    const double one = static_cast<size_t>(label) == c ? 1 : 0;
    return std::max(one - static_cast<double>(residual[c]), 0.0);
  }

  const BlendRow& row_;
  const std::array<float, Blend::kParts> b_;
  std::vector<double> labels_, expected_, base_;
};

// log softmax(logits) is logits less the largest and less this.
double LogTotal(std::span<const float> shifted) {
  double total = 0;
  for (const float value : shifted) total += std::exp(static_cast<double>(value));
  return std::log(total);
}

std::vector<double> Times(float b, std::span<const float> part) {
  std::vector<double> values;
  for (const float value : part) values.push_back(static_cast<double>(b) * value);
  return values;
}

}  // namespace

Explanation::Line LineOf(const ResidualMemory& memory, const WeightedNeighbors& weighted,
                         std::span<const float> distances, size_t i) {
  const double total = std::accumulate(weighted.weights.begin(), weighted.weights.end(), 0.0);
  Explanation::Line line;
  line.row = weighted.rows[i];
  line.id = memory.id(line.row);
  line.source = std::string(memory.source(line.row));
  if (memory.description().task == Task::kClassification) line.label = memory.label(line.row);
  line.distance = distances[i];
  line.weight = weighted.weights[i] / total;
  return line;
}

void ExplainBlend(const ResidualMemory& memory, std::span<const float> logits,
                  const Neighbors& neighbors, const PredictOptions& options,
                  Explanation* explanation) {
  const Blend& blend = *memory.description().blend;
  const bool classify = memory.description().task == Task::kClassification;
  const size_t outputs = logits.size();
  BlendRow row(memory);
  const std::span<const int64_t> rows =
      neighbors.k > 0 ? neighbors.rows_of(0) : std::span<const int64_t>();
  const std::span<const float> distances =
      neighbors.k > 0 ? neighbors.distances_of(0) : std::span<const float>();
  if (classify) {
    row.Load(logits, rows, distances, options.parameters, blend.prior, blend.base_temperature);
  } else {
    row.LoadRegression(rows, distances, options.parameters);
  }
  const std::array<float, Blend::kParts> b = CoefficientsOf(blend, row.gates());
  const WeightedNeighbors& weighted = row.correction().neighbors();
  for (size_t i = 0; i < weighted.rows.size(); ++i) {
    explanation->lines.push_back(LineOf(memory, weighted, distances, i));
  }
  explanation->method = options.method;
  std::vector<std::vector<float>> residuals(weighted.rows.size(), std::vector<float>(outputs));
  for (size_t i = 0; i < residuals.size(); ++i) {
    memory.Residual(weighted.rows[i], options.parameters.temperature, residuals[i]);
    Explanation::Line& line = explanation->lines[i];
    for (size_t c = 0; c < outputs; ++c) {
      line.exact.push_back(static_cast<double>(b[kResidualPart]) * line.weight * residuals[i][c]);
    }
    line.contribution = line.exact;
  }
  if (classify) {
    explanation->parts = {Times(b[kBasePart], row.part(kBasePart)),
                          Times(b[kLabelsPart], row.part(kLabelsPart)),
                          Times(b[kExpectedPart], row.part(kExpectedPart)),
                          Times(b[kResidualPart], row.part(kResidualPart))};
    const double constant = b[kBasePart] * LogTotal(row.part(kBasePart));
    for (double& value : explanation->parts->base) value -= constant;
    const Explanation::Parts& parts = *explanation->parts;
    Shares shares(row, blend, b, outputs);
    for (size_t i = 0; i < residuals.size(); ++i) {
      shares.Count(explanation->lines[i].label, explanation->lines[i].weight, residuals[i]);
    }
    for (size_t c = 0; c < outputs; ++c) {
      explanation->eta.push_back(parts.base[c] + parts.labels[c] + parts.expected[c] +
                                 parts.residual[c]);
      explanation->base.push_back(parts.base[c] + parts.labels[c] + parts.expected[c] -
                                  shares.Labels(c) - shares.Expectation(c));
      for (size_t i = 0; i < residuals.size(); ++i) {
        Explanation::Line& line = explanation->lines[i];
        line.contribution[c] = shares.Of(line.label, line.weight, residuals[i], c);
      }
    }
    explanation->prediction = ArgMax(explanation->score);
    explanation->base_prediction = ArgMax(logits);
  } else {
    explanation->base.assign(logits.begin(), logits.end());
    explanation->eta.assign(explanation->score.begin(), explanation->score.end());
  }
  explanation->rounding = explanation->eta;
  for (size_t c = 0; c < outputs; ++c) {
    explanation->rounding[c] -= explanation->base[c];
    for (const Explanation::Line& line : explanation->lines) {
      explanation->rounding[c] -= line.contribution[c];
    }
  }
}

}  // namespace resmem
