#include "predict/reference_prediction.h"

#include <algorithm>
#include <cmath>

namespace resmem {
namespace {

std::vector<double> SoftmaxInDouble(std::span<const float> logits, double temperature) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p;
  double total = 0;
  for (const float logit : logits)
    total += p.emplace_back(std::exp((logit - largest) / temperature));
  for (double& value : p) value /= total;
  return p;
}

// r_i = onehot(y_i) - softmax(f_i / T), or what a memory keeps of it that has no logits.
std::vector<double> ResidualOf(const ResidualMemory& memory, int64_t row, double temperature) {
  const MemoryDescription& description = memory.description();
  if (description.task == Task::kClassification && description.form == ResidualForm::kLogits) {
    std::vector<double> residual = SoftmaxInDouble(memory.logits(row), temperature);
    for (double& value : residual) value = -value;
    residual[static_cast<size_t>(memory.label(row))] += 1;
    return residual;
  }
  std::vector<float> kept(static_cast<size_t>(description.outputs));
  memory.Residual(row, static_cast<float>(temperature), kept);
  return {kept.begin(), kept.end()};
}

}  // namespace

std::vector<double> ReferencePrediction(const ResidualMemory& memory, std::span<const float> logits,
                                        std::span<const int64_t> rows,
                                        std::span<const float> distances,
                                        const Parameters& parameters) {
  std::vector<double> score(logits.begin(), logits.end());
  if (memory.description().task == Task::kClassification) {
    score = SoftmaxInDouble(logits, parameters.temperature);
  }
  double total = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    total += std::exp(-(distances[i] - distances[0]) / parameters.sigma);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const double weight = std::exp(-(distances[i] - distances[0]) / parameters.sigma) / total;
    const std::vector<double> residual = ResidualOf(memory, rows[i], parameters.temperature);
    for (size_t c = 0; c < score.size(); ++c) score[c] += weight * residual[c];
  }
  return score;
}

}  // namespace resmem
