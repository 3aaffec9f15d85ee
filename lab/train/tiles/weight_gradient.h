// The gradient of a convolution's weights on tiles: over all positions, input x output gradient.
// Only where AmxActive().
#ifndef RESMEM_LAB_TRAIN_TILES_WEIGHT_GRADIENT_H_
#define RESMEM_LAB_TRAIN_TILES_WEIGHT_GRADIENT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "train/tiles/conv_layout.h"

namespace resmem::train {

// For one worker.
class WeightGradient {
 public:
  explicit WeightGradient(const ConvLayout& layout);

  // Values of a partial sum.
  int64_t values() const;

  // sums += over `count` images.  `scratch` holds the inputs as layout.Place() put them,
  // `gradient` positions x outputs with zeros on borders and up to a multiple of 32.
  void Add(const Bfloat16* scratch, const Bfloat16* gradient, int64_t count, float* sums);

  // From a sum to outputs x kernel x kernel x inputs.
  void Unpack(std::span<const float> sums, std::span<float> weights) const;

 private:
  void TurnInputs(const Bfloat16* scratch);
  void PairGradients(const Bfloat16* gradient, int64_t positions);

  ConvLayout layout_;
  int64_t input_blocks_ = 0, row_pixels_ = 0;
  TileBuffer inputs_;     // step planes x inputs x pixels
  TileBuffer gradients_;  // pairs of positions x outputs x 2
};

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TILES_WEIGHT_GRADIENT_H_
