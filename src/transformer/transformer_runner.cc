#include "transformer/transformer_runner.h"

#include <algorithm>

#include "support/parallel.h"

namespace resmem {
namespace {

// Of the vocabulary: with 32 rows they stay in the first two caches.
constexpr int64_t kColumnsTogether = 256;

}  // namespace

struct TransformerRunner::Scratch {
  Scratch(const LanguageModelShape& shape, int64_t context)
      : pass(shape, context), activations(shape, context, context, ModelUse::kAnswering) {}
  WindowPass pass;
  Activations activations;
};

TransformerRunner::TransformerRunner(const LanguageModelShape& shape, std::vector<float> values,
                                     int64_t context, int threads)
    : shape_(shape),
      layout_(shape, 1),
      values_(std::move(values)),
      threads_(ResolveThreads(threads)),
      packed_(shape_, layout_, ModelUse::kAnswering),
      weights_{shape_, layout_, nullptr, packed_, PaddedPositions(context), {}} {
  packed_.Pack(values_.data(), threads_);
  weights_.SetValues(values_.data());
}

TransformerRunner::~TransformerRunner() = default;

std::unique_ptr<TransformerRunner::Scratch> TransformerRunner::TakeScratch() const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Scratch> scratch = std::move(idle_.back());
      idle_.pop_back();
      return scratch;
    }
  }
  return std::make_unique<Scratch>(shape_, weights_.context);
}

void TransformerRunner::RunLayers(const TokenInput& window, Scratch* scratch, float* keys,
                                  Bfloat16* normed) const {
  const int64_t positions = std::ssize(window.ids), dim = shape_.dim;
  Activations& activations = scratch->activations;
  scratch->pass.Forward(weights_, {0, PaddedPositions(positions), window.ids, {}}, &activations);
  for (int64_t i = positions - window.wanted; i < positions; ++i) {
    const Bfloat16* key = activations.layers.back().normed_middle.Row(i);
    keys = std::transform(key, key + dim, keys, FromBfloat16);
    std::copy_n(activations.normed_last.Row(i), dim, normed);
    normed += activations.normed_last.stride;
  }
}

void TransformerRunner::RunOutputLayer(const RoundedRows& normed, int64_t rows,
                                       float* logits) const {
  const int64_t dim = shape_.dim, vocabulary = shape_.vocabulary;
  const int64_t whole = rows / kPanelSide * kPanelSide;
  ParallelFor(threads_, vocabulary, kColumnsTogether, [&](int64_t begin, int64_t end, int) {
    const Panels panels{packed_.embedding_panels.data() + begin * dim, dim};
    Multiply(whole, end - begin, dim, normed.Row(0), normed.stride, panels, false, logits + begin,
             vocabulary);
    if (whole == rows) return;
    float last[kPanelSide * kColumnsTogether];
    Multiply(kPanelSide, end - begin, dim, normed.Row(whole), normed.stride, panels, false, last,
             kColumnsTogether);
    for (int64_t row = whole; row < rows; ++row) {
      std::copy_n(last + (row - whole) * kColumnsTogether, end - begin,
                  logits + row * vocabulary + begin);
    }
  });
}

void TransformerRunner::Run(std::span<const TokenInput> windows, float* keys, float* logits) const {
  std::vector<int64_t> first(windows.size() + 1);
  for (size_t w = 0; w < windows.size(); ++w) first[w + 1] = first[w] + windows[w].wanted;
  RoundedRows normed(PaddedPositions(first.back()), shape_.dim);
  ParallelFor(threads_, std::ssize(windows), 1, [&](int64_t window, int64_t, int) {
    const auto w = static_cast<size_t>(window);
    std::unique_ptr<Scratch> scratch = TakeScratch();
    RunLayers(windows[w], scratch.get(), keys + first[w] * shape_.dim, normed.Row(first[w]));
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(scratch));
  });
  RunOutputLayer(normed, first.back(), logits);
}

}  // namespace resmem
