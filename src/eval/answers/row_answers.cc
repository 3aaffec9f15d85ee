#include "eval/answers/row_answers.h"

#include <algorithm>

#include "kernels/vector_math.h"

namespace resmem {

RowAnswers::RowAnswers(const ResidualMemory& memory, const Parameters& parameters)
    : parameters_(parameters), classes_(memory.description().outputs), correction_(memory) {
  for (auto* values : {&probabilities_, &tempered_, &scores_, &labels_}) {
    values->resize(static_cast<size_t>(classes_));
  }
}

void RowAnswers::Load(std::span<const float> logits, std::span<const int64_t> rows,
                      std::span<const float> distances) {
  correction_.Weigh(rows, distances, parameters_);
  Softmax(logits.data(), classes_, 1.0f, probabilities_.data());
  if (parameters_.temperature != 1.0f) {
    Softmax(logits.data(), classes_, parameters_.temperature, tempered_.data());
  }
  correction_.SumAnswers(labels_);
  std::ranges::copy(tempered(), scores_.begin());
  correction_.AddTo(parameters_.temperature, scores_);
}

int64_t RowAnswers::Base() const {
  return ArgMax(tempered().data(), classes_);
}

int64_t RowAnswers::ResMem() const {
  return ArgMax(scores_.data(), classes_);
}

int64_t RowAnswers::KnnLm(float lambda) const {
  // Without neighbors there is nothing to mix in.
  return ArgMaxOfMix(correction_.empty() ? 0.0f : lambda, probabilities_.data(), labels_.data(),
                     correction_.neighbors().scale, classes_);
}

int64_t RowAnswers::Knn() const {
  return ArgMaxOfMix(1.0f, probabilities_.data(), labels_.data(), correction_.neighbors().scale,
                     classes_);
}

float RowAnswers::MixtureAt(float lambda, int32_t label) const {
  const auto c = static_cast<size_t>(label);
  if (correction_.empty()) return probabilities_[c];
  return (1.0f - lambda) * probabilities_[c] +
         lambda * (labels_[c] * correction_.neighbors().scale);
}

}  // namespace resmem
