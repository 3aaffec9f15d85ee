#include "lm_training/transformer.h"

#include <algorithm>

#include "lm_training/matrix_gradients.h"
#include "support/parallel.h"

namespace resmem {

Transformer::Transformer(const LanguageModelShape& shape, const ParameterLayout& layout,
                         int64_t context, int threads)
    : shape_(shape),
      layout_(layout),
      threads_(ResolveThreads(threads)),
      packed_(shape, layout, ModelUse::kLearning),
      weights_{shape_, layout_, nullptr, packed_, PaddedPositions(context), {}},
      activations_(shape, std::max(kRowsTogether, PaddedPositions(context)),
                   PaddedPositions(context), ModelUse::kLearning),
      output_layer_(shape, packed_, threads_) {
  for (int i = 0; i < threads_; ++i) {
    passes_.push_back(std::make_unique<WindowPass>(shape_, weights_.context));
  }
}

int64_t Transformer::Bytes(const LanguageModelShape& shape, int64_t context) {
  const int64_t rows = std::max(kRowsTogether, PaddedPositions(context));
  // Of a layer, activations.h.
  const int64_t a_row = 2 * 4 * shape.dim + 2 * (13 * shape.dim + 2 * shape.hidden) +
                        2 * shape.heads * Bfloat16Stride(PaddedPositions(context));
  const int64_t packed = 2 * static_cast<int64_t>(sizeof(Bfloat16)) * ParameterCount(shape);
  return packed + rows * a_row * shape.layers;
}

void Transformer::SetParameters(std::span<const float> parameters) {
  packed_.Pack(parameters.data(), threads_);
  weights_.SetValues(parameters.data());
}

size_t Transformer::Place(std::span<const TokenExample> examples, const Dropout& dropout,
                          uint64_t first_number) {
  windows_.clear();
  targets_.clear();
  const int64_t most = std::max(kRowsTogether, weights_.context);
  for (const TokenExample& example : examples) {
    const int64_t length = PaddedPositions(std::ssize(example.ids));
    const int64_t row = std::ssize(targets_);
    if (row + length > most) break;
    windows_.push_back({row, length, example.ids, dropout.At(first_number + windows_.size())});
    targets_.insert(targets_.end(), example.targets.begin(), example.targets.end());
    targets_.resize(static_cast<size_t>(row + length), -1);
  }
  return windows_.size();
}

void Transformer::ForwardAll() {
  ParallelFor(threads_, std::ssize(windows_), 1, [&](int64_t window, int64_t, int worker) {
    passes_[static_cast<size_t>(worker)]->Forward(weights_, windows_[static_cast<size_t>(window)],
                                                  &activations_);
  });
}

void Transformer::BackwardAll() {
  window_gradients_.clear();
  window_gradients_.reserve(windows_.size());
  for (size_t i = 0; i < windows_.size(); ++i) {
    window_gradients_.emplace_back(shape_, weights_.context);
  }
  ParallelFor(threads_, std::ssize(windows_), 1, [&](int64_t window, int64_t, int worker) {
    const auto i = static_cast<size_t>(window);
    passes_[static_cast<size_t>(worker)]->Backward(weights_, windows_[i], &activations_,
                                                   &window_gradients_[i]);
  });
}

void Transformer::AddSmallGradients(std::span<float> gradient) const {
  const int64_t dim = shape_.dim, context = weights_.context;
  const auto add = [&](const Parameter& parameter, const float* values) {
    AddRow(values, dim, gradient.data() + parameter.offset);
  };
  for (size_t w = 0; w < windows_.size(); ++w) {
    const float* norms = window_gradients_[w].norms.data();
    for (const LayerParameters& layer : layout_.layers) {
      add(layer.attention_norm, norms);
      add(layer.mlp_norm, norms + dim);
      norms += 2 * dim;
    }
    add(layout_.last_norm, norms);
    float* table = gradient.data() + layout_.position_bias.offset;
    for (int64_t head = 0; head < shape_.heads; ++head) {
      const float* bias = window_gradients_[w].bias.data() + head * Weights::BiasSize(context);
      for (int64_t distance = 0; distance < context; ++distance) {
        table[head * kPositionBuckets + PositionBucket(distance)] += bias[context - 1 - distance];
      }
    }
    const PlacedWindow& window = windows_[w];
    for (int64_t i = 0; i < std::ssize(window.ids); ++i) {
      AddRow(activations_.gradient.data() + (window.row + i) * dim, dim,
             gradient.data() + layout_.embedding.offset + window.ids[static_cast<size_t>(i)] * dim);
    }
  }
}

Outcome Transformer::Learn(std::span<const TokenExample> examples, double dropout,
                           uint64_t dropout_key, std::span<float> gradient) {
  Dropout drop = Dropout::Of(dropout);
  drop.key = dropout_key;
  Outcome outcome;
  for (size_t first = 0; first < examples.size();) {
    first += Place(examples.subspan(first), drop, first);
    ForwardAll();
    outcome.Add(output_layer_.Learn(activations_.normed_last, targets_,
                                    activations_.gradient.data(),
                                    gradient.data() + layout_.embedding.offset));
    BackwardAll();
    AddMatrixGradients(layout_, activations_, std::ssize(targets_), threads_, gradient.data());
    AddSmallGradients(gradient);
  }
  return outcome;
}

Outcome Transformer::Judge(std::span<const TokenExample> examples) {
  Outcome outcome;
  for (size_t first = 0; first < examples.size();) {
    first += Place(examples.subspan(first), {}, 0);
    ForwardAll();
    outcome.Add(output_layer_.Judge(activations_.normed_last, targets_));
  }
  return outcome;
}

}  // namespace resmem
