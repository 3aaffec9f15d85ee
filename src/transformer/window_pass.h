// One window through the layers, forward and back, on one thread: nothing of it leaves the
// processor's own cache.  The output layer and the gradients of the matrices see all windows of a
// batch together and follow elsewhere (lab/lm_training).
#ifndef RESMEM_TRANSFORMER_WINDOW_PASS_H_
#define RESMEM_TRANSFORMER_WINDOW_PASS_H_

#include <span>
#include <vector>

#include "transformer/activations.h"
#include "transformer/attention.h"
#include "transformer/packed_weights.h"

namespace resmem {

// The positions that a window of so many takes.
inline int64_t PaddedPositions(int64_t positions) {
  return (positions + kPanelSide - 1) / kPanelSide * kPanelSide;
}

// All windows of a batch read these.
struct Weights {
  const LanguageModelShape& shape;
  const ParameterLayout& layout;
  const float* values;  // the parameters
  const PackedWeights& packed;
  int64_t context;          // a multiple of 32
  std::vector<float> bias;  // heads x BiasSize(context), as HeadInput wants it
  static int64_t BiasSize(int64_t context) { return context + kPanelSide; }

  // Sets `values`, which must stay, and `bias`.
  void SetValues(const float* parameters);
  const float* At(const Parameter& parameter) const { return values + parameter.offset; }
};

// Where a window lies in the batch.
struct PlacedWindow {
  int64_t row = 0;     // the first
  int64_t length = 0;  // padded
  std::span<const int32_t> ids;
  Dropout dropout;  // its own key
};

// The gradients that a window alone can sum up: of the norms' weights and of the position bias.
struct WindowGradients {
  WindowGradients(const LanguageModelShape& shape, int64_t context)
      : norms((2 * shape.layers + 1) * shape.dim), bias(shape.heads * Weights::BiasSize(context)) {}
  AlignedArray<float> norms;  // attention, MLP, attention, ... last
  AlignedArray<float> bias;
};

// Scratch of one thread.
class WindowPass {
 public:
  WindowPass(const LanguageModelShape& shape, int64_t context);

  void Forward(const Weights& weights, const PlacedWindow& window, Activations* activations);
  // activations->gradient: of normed_last at first, of the embedded ids in the end.
  void Backward(const Weights& weights, const PlacedWindow& window, Activations* activations,
                WindowGradients* gradients);

 private:
  HeadInput HeadOf(const Weights& weights, const PlacedWindow& window,
                   const LayerActivations& layer, int64_t layer_number, int64_t head) const;
  void NormRows(const PlacedWindow& window, const float* x, const float* weight, float* scales,
                RoundedRows* out);
  // x += dropout(product)
  void AddProduct(const PlacedWindow& window, const Dropout& dropout, const float* x, float* sum);
  // Rounds dropout(gradient) into `out`.
  void RoundGradient(const PlacedWindow& window, const Dropout& dropout, const float* gradient,
                     RoundedRows* out);
  // product_ = rows of `left` times `right`.
  void Product(const PlacedWindow& window, const RoundedRows& left, Panels right, int64_t columns);
  void NormBackward(const PlacedWindow& window, const float* x, const float* weight,
                    const float* scales, float* x_gradient, float* weight_gradient) const;

  float* ProductRow(int64_t position) { return product_.data() + position * product_stride_; }
  const float* ProductRow(int64_t position) const {
    return product_.data() + position * product_stride_;
  }

  const LanguageModelShape shape_;
  int64_t product_stride_;
  AlignedArray<float> product_;  // context x the widest output
  AlignedArray<float> row_;
  RoundedRows attended_gradient_;
  Attention attention_;
};

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_WINDOW_PASS_H_
