#include "eval/answers/rival_answers.h"

#include "kernels/vector_math.h"

namespace resmem {

void NeighborMixture::Answer(std::span<const int64_t> rows, std::span<const float> distances,
                             std::span<const float> base, float lambda, std::span<float> out) {
  correction_.Weigh(rows, distances, parameters_);
  correction_.SumAnswers(labels_);
  // Without neighbors there is nothing to mix in.
  const float share = correction_.empty() ? 0.0f : lambda;
  const float scale = correction_.neighbors().scale;
  for (size_t c = 0; c < out.size(); ++c) {
    out[c] = (1.0f - share) * base[c] + share * (labels_[c] * scale);
  }
}

void AnswerByLastLayer(const Rivals::LastLayer& layer, std::span<const float> key,
                       std::span<const float> logits, std::span<float> out) {
  const auto classes = static_cast<int64_t>(out.size());
  for (size_t c = 0; c < out.size(); ++c) out[c] = layer.scale * logits[c] + layer.offset[c];
  for (size_t d = 0; d < key.size(); ++d) {
    AddScaled(key[d], &layer.weights[d * out.size()], classes, out.data());
  }
  Softmax(out.data(), classes, 1.0f, out.data());
}

}  // namespace resmem
