#include "lm_training/output_layer.h"

#include <algorithm>
#include <cmath>

#include "support/parallel.h"

namespace resmem {
namespace {

// Sixteen more: rows a power of two apart fall onto each other in the cache.
int64_t NormedStride(int64_t rows) {
  return rows + 16;
}

constexpr float kNotPredicted = 1e30f;  // as a log of a sum, it makes every probability 0

}  // namespace

OutputLayer::OutputLayer(const LanguageModelShape& shape, const PackedWeights& packed, int threads)
    : shape_(shape),
      packed_(packed),
      threads_(threads),
      columns_(kRowsTogether * shape.dim),
      rows_(kRowsTogether * shape.dim),
      log_sum_(kRowsTogether),
      target_logit_(kRowsTogether),
      parts_(kParts) {
  for (Part& part : parts_) {
    part.logits = AlignedArray<float>(kVocabularyBlock * kPanelSide);
    part.sums.resize(kRowsTogether / kPanelSide);
  }
}

template <typename Work>
void OutputLayer::EachPart(const Work& work) {
  const int64_t blocks = (shape_.vocabulary + kVocabularyBlock - 1) / kVocabularyBlock;
  ParallelFor(threads_, kParts, 1, [&](int64_t part, int64_t, int) {
    const int64_t begin = blocks * part / kParts * kVocabularyBlock;
    const int64_t end = blocks * (part + 1) / kParts * kVocabularyBlock;
    work(&parts_[static_cast<size_t>(part)], begin, std::min(end, shape_.vocabulary));
  });
}

void OutputLayer::Logits(int64_t begin, int64_t count, int64_t panel, float* logits) const {
  const int64_t stride = Bfloat16Stride(shape_.dim);
  Multiply(count, kPanelSide, shape_.dim, packed_.embedding.data() + begin * stride, stride,
           {columns_.data() + panel * kPanelSide * shape_.dim, shape_.dim}, false, logits,
           kPanelSide);
}

void OutputLayer::SumPart(std::span<const int32_t> targets, Part* part, int64_t begin,
                          int64_t end) {
  const int64_t panels = std::ssize(targets) / kPanelSide;
  for (int64_t panel = 0; panel < panels; ++panel) StartLogits(&part->sums[panel]);
  for (int64_t id = begin; id < end; id += kVocabularyBlock) {
    const int64_t count = std::min(kVocabularyBlock, end - id);
    for (int64_t panel = 0; panel < panels; ++panel) {
      Logits(id, count, panel, part->logits.data());
      MergeLogits(part->logits.data(), count, static_cast<int32_t>(id), &part->sums[panel]);
      for (int64_t t = 0; t < kPanelSide; ++t) {
        const int64_t row = panel * kPanelSide + t;
        const int64_t within = targets[row] - id;
        if (within < 0 || within >= count) continue;
        target_logit_[row] = part->logits[within * kPanelSide + t];
      }
    }
  }
}

Outcome OutputLayer::JudgeRows(const RoundedRows& normed, int64_t first,
                               std::span<const int32_t> targets) {
  PanelsFromColumns(normed.Row(first), normed.stride, shape_.dim, std::ssize(targets),
                    columns_.data());
  EachPart([&](Part* part, int64_t begin, int64_t end) { SumPart(targets, part, begin, end); });
  Outcome outcome;
  for (int64_t row = 0; row < std::ssize(targets); ++row) {
    const auto panel = static_cast<size_t>(row / kPanelSide);
    const int64_t t = row % kPanelSide;
    if (t == 0) {
      for (size_t part = 1; part < parts_.size(); ++part) {
        MergeLogits(parts_[part].sums[panel], &parts_[0].sums[panel]);
      }
    }
    const TokenLogits& sums = parts_[0].sums[panel];
    log_sum_[row] = kNotPredicted;
    const int32_t target = targets[static_cast<size_t>(row)];
    if (target < 0) continue;
    log_sum_[row] = sums.largest[t] + std::log(sums.sum[t]);
    outcome.loss += log_sum_[row] - target_logit_[row];
    ++outcome.predicted;
    outcome.right += sums.best[t] == target;
  }
  return outcome;
}

void OutputLayer::LearnPart(std::span<const int32_t> targets, Part* part, int64_t begin,
                            int64_t end, float* embedding_gradient) {
  const int64_t rows = std::ssize(targets), stride = Bfloat16Stride(rows);
  const int64_t dim = shape_.dim, turned_stride = Bfloat16Stride(shape_.vocabulary);
  float* logits = part->logits.data();
  for (int64_t id = begin; id < end; id += kVocabularyBlock) {
    const int64_t count = std::min(kVocabularyBlock, end - id);
    for (int64_t panel = 0; panel < rows / kPanelSide; ++panel) {
      Logits(id, count, panel, logits);
      Probabilities(log_sum_.data() + panel * kPanelSide, count, logits);
      for (int64_t t = 0; t < kPanelSide; ++t) {
        const int64_t within = targets[panel * kPanelSide + t] - id;
        if (within >= 0 && within < count) logits[within * kPanelSide + t] -= 1;
      }
      RoundBlock(logits, count, part->gradient.data() + panel * kPanelSide, stride,
                 part->panels.data() + panel * kPanelSide * count);
    }
    Multiply(count, dim, rows, part->gradient.data(), stride, {rows_.data(), rows}, true,
             embedding_gradient + id * dim, dim);
    Multiply(dim, rows, count, packed_.embedding_turned.data() + id, turned_stride,
             {part->panels.data(), count}, id > begin, part->normed_gradient.data(),
             NormedStride(rows));
  }
}

void OutputLayer::LearnRows(const RoundedRows& normed, int64_t first,
                            std::span<const int32_t> targets, float* normed_gradient,
                            float* embedding_gradient) {
  const int64_t rows = std::ssize(targets), dim = shape_.dim;
  PanelsFromRows(normed.Row(first), normed.stride, rows, dim, rows_.data());
  EachPart([&](Part* part, int64_t begin, int64_t end) {
    if (part->gradient.size() == 0) {
      part->gradient = AlignedArray<Bfloat16>(kVocabularyBlock * Bfloat16Stride(kRowsTogether));
      part->panels = AlignedArray<Bfloat16>(kVocabularyBlock * kRowsTogether);
      part->normed_gradient = AlignedArray<float>(dim * NormedStride(kRowsTogether));
    }
    if (begin < end) LearnPart(targets, part, begin, end, embedding_gradient);
  });
  ParallelFor(threads_, rows, kPanelSide, [&](int64_t begin, int64_t, int) {
    for (int64_t i = 0; i < dim; ++i) {
      float sums[kPanelSide] = {};
      for (const Part& part : parts_) {
        AddRow(part.normed_gradient.data() + i * NormedStride(rows) + begin, kPanelSide, sums);
      }
      for (int64_t t = 0; t < kPanelSide; ++t) normed_gradient[(begin + t) * dim + i] = sums[t];
    }
  });
}

Outcome OutputLayer::Judge(const RoundedRows& normed, std::span<const int32_t> targets) {
  Outcome outcome;
  for (int64_t first = 0; first < std::ssize(targets); first += kRowsTogether) {
    const int64_t rows = std::min(kRowsTogether, std::ssize(targets) - first);
    outcome.Add(JudgeRows(normed, first, targets.subspan(first, rows)));
  }
  return outcome;
}

Outcome OutputLayer::Learn(const RoundedRows& normed, std::span<const int32_t> targets,
                           float* normed_gradient, float* embedding_gradient) {
  Outcome outcome;
  for (int64_t first = 0; first < std::ssize(targets); first += kRowsTogether) {
    const int64_t rows = std::min(kRowsTogether, std::ssize(targets) - first);
    const auto some = targets.subspan(first, rows);
    outcome.Add(JudgeRows(normed, first, some));
    LearnRows(normed, first, some, normed_gradient + first * shape_.dim, embedding_gradient);
  }
  return outcome;
}

}  // namespace resmem
