#include "transformer/packed_weights.h"

#include "support/parallel.h"

namespace resmem {
namespace {

void PackMatrix(const float* values, PackedMatrix* matrix) {
  AlignedArray<Bfloat16> rounded(matrix->outputs * matrix->inputs);
  RoundToBfloat16(values, rounded.size(), rounded.data());
  PanelsFromColumns(rounded.data(), matrix->inputs, matrix->inputs, matrix->outputs,
                    matrix->forward.data());
  if (matrix->backward.size() == 0) return;
  PanelsFromRows(rounded.data(), matrix->inputs, matrix->outputs, matrix->inputs,
                 matrix->backward.data());
}

}  // namespace

PackedWeights::PackedWeights(const LanguageModelShape& shape, const ParameterLayout& layout,
                             ModelUse use)
    : layers(layout.layers.size()),
      embedding(shape.vocabulary * Bfloat16Stride(shape.dim)),
      from_(layout.embedding),
      use_(use) {
  if (use == ModelUse::kLearning) {
    embedding_turned = AlignedArray<Bfloat16>(shape.dim * Bfloat16Stride(shape.vocabulary));
  } else {
    embedding_panels = AlignedArray<Bfloat16>(shape.dim * shape.vocabulary);
  }
  for (size_t l = 0; l < layers.size(); ++l) {
    const LayerParameters& from = layout.layers[l];
    PackedLayer& to = layers[l];
    for (const Part& part :
         {Part{&from.qkv, &to.qkv}, Part{&from.projection, &to.projection},
          Part{&from.expansion, &to.expansion}, Part{&from.contraction, &to.contraction}}) {
      part.to->outputs = part.from->rows;
      part.to->inputs = part.from->columns;
      part.to->forward = AlignedArray<Bfloat16>(part.from->size());
      if (use == ModelUse::kLearning) part.to->backward = AlignedArray<Bfloat16>(part.from->size());
      parts_.push_back(part);
    }
  }
}

void PackedWeights::Pack(const float* parameters, int threads) {
  ParallelFor(threads, static_cast<int64_t>(parts_.size()), 1, [&](int64_t part, int64_t, int) {
    const auto& [from, to] = parts_[static_cast<size_t>(part)];
    PackMatrix(parameters + from->offset, to);
  });
  const int64_t dim = from_.columns, stride = Bfloat16Stride(dim);
  const int64_t turned_stride = Bfloat16Stride(from_.rows);
  ParallelFor(threads, from_.rows, kPanelSide, [&](int64_t begin, int64_t end, int) {
    for (int64_t id = begin; id < end; ++id) {
      RoundToBfloat16(parameters + from_.offset + id * dim, dim, embedding.data() + id * stride);
    }
    if (use_ == ModelUse::kLearning) {
      Transpose(embedding.data() + begin * stride, stride, end - begin, dim,
                embedding_turned.data() + begin, turned_stride);
    } else {
      PanelsFromColumns(embedding.data() + begin * stride, stride, dim, end - begin,
                        embedding_panels.data() + begin * dim);
    }
  });
}

}  // namespace resmem
