// What a batch of windows leaves behind on its way through the network, for the way back.  Where
// nothing learns, all layers share one place.
//
// The windows lie one below the other, each padded to a multiple of 32 positions; `rows` counts
// the positions of all.
#ifndef RESMEM_TRANSFORMER_ACTIVATIONS_H_
#define RESMEM_TRANSFORMER_ACTIVATIONS_H_

#include <algorithm>
#include <vector>

#include "support/aligned_array.h"
#include "transformer/bfloat16.h"
#include "transformer/shape.h"

namespace resmem {

// Rows of bfloat16 numbers, Bfloat16Stride() apart.
struct RoundedRows {
  RoundedRows() = default;
  RoundedRows(int64_t rows, int64_t columns_given)
      : columns(columns_given),
        stride(Bfloat16Stride(columns_given)),
        values(rows * Bfloat16Stride(columns_given)) {}
  Bfloat16* Row(int64_t row) { return values.data() + row * stride; }
  const Bfloat16* Row(int64_t row) const { return values.data() + row * stride; }

  int64_t columns = 0, stride = 0;
  AlignedArray<Bfloat16> values;
};

struct LayerActivations {
  LayerActivations(const LanguageModelShape& shape, int64_t rows, int64_t context, ModelUse use)
      : input(rows * shape.dim),
        middle(rows * shape.dim),
        input_scale(rows),
        middle_scale(rows),
        normed_input(rows, shape.dim),
        qkv(rows, 3 * shape.dim),
        probabilities(rows, shape.heads * Bfloat16Stride(context)),
        attended(rows, shape.dim),
        normed_middle(rows, shape.dim),
        hidden(rows, shape.hidden) {
    if (use == ModelUse::kAnswering) return;
    qkv_gradient = RoundedRows(rows, 3 * shape.dim);
    projection_gradient = RoundedRows(rows, shape.dim);
    expansion_gradient = RoundedRows(rows, shape.hidden);
    contraction_gradient = RoundedRows(rows, shape.dim);
  }

  AlignedArray<float> input, middle;              // rows x dim: before attention, before the MLP
  AlignedArray<float> input_scale, middle_scale;  // of their norms
  RoundedRows normed_input;
  RoundedRows qkv;
  RoundedRows probabilities;  // a row: heads x Bfloat16Stride(context), before dropout
  RoundedRows attended;       // values added up, all heads
  RoundedRows normed_middle;  // of the last layer: the key of each token
  RoundedRows hidden;         // after ReLU and dropout

  // Of the outputs of the four products.
  RoundedRows qkv_gradient, projection_gradient, expansion_gradient, contraction_gradient;
};

struct Activations {
  Activations(const LanguageModelShape& shape, int64_t rows, int64_t context, ModelUse use)
      : last(rows * shape.dim), last_scale(rows), normed_last(rows, shape.dim) {
    const int64_t places = use == ModelUse::kLearning ? shape.layers : 1;
    for (int64_t l = 0; l < places; ++l) layers.emplace_back(shape, rows, context, use);
    if (use == ModelUse::kLearning) gradient = AlignedArray<float>(rows * shape.dim);
  }

  LayerActivations& layer(int64_t number) {
    return layers[std::min(static_cast<size_t>(number), layers.size() - 1)];
  }

  std::vector<LayerActivations> layers;
  AlignedArray<float> last;  // rows x dim: after the last layer
  AlignedArray<float> last_scale;
  RoundedRows normed_last;       // after norm and dropout, times dim^-0.5
  AlignedArray<float> gradient;  // rows x dim: of normed_last, then of what is before it
};

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_ACTIVATIONS_H_
