// One unit of a network, clip(norm(conv(x)) + shortcut), forward and back over a batch, with bf16
// activations and products and float32 sums, weights and statistics.  Only where AmxActive().
//
// Activations are images x height x width x channels, weights outputs x kernel x kernel x inputs.
// outputs are a multiple of 16, and inputs too where their gradient is wanted.  The batch is cut
// into groups by the shape alone and their sums are added in order: the bits of the results do not
// depend on `threads`.
#ifndef RESMEM_LAB_TRAIN_TILES_TILE_UNIT_H_
#define RESMEM_LAB_TRAIN_TILES_TILE_UNIT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "train/tiles/conv_layout.h"
#include "train/tiles/norm_pass.h"

namespace resmem::train {

struct TileUnit {
  ConvShape conv;
  Clip clip;
  int64_t images = 0;
  int threads = 1;
};

struct NormParameters {
  std::span<const float> weight, bias;
};

struct BatchStatistics {
  std::vector<float> mean, variance;  // variance: of the batch itself, not the unbiased one
};

struct UnitActivations {
  const Bfloat16* x = nullptr;
  const Bfloat16* shortcut = nullptr;  // null: none
  Bfloat16* convolved = nullptr;
  OpenBits* open = nullptr;  // images x height x width x channels / 16
  Bfloat16* y = nullptr;     // not read on the way back
};

BatchStatistics RunForward(const TileUnit& unit, std::span<const float> weights,
                           const NormParameters& norm, double epsilon,
                           const UnitActivations& activations);

struct UnitGradients {
  const Bfloat16* y = nullptr;   // given
  Bfloat16* x = nullptr;         // null: not wanted
  Bfloat16* shortcut = nullptr;  // null: not wanted
  std::span<float> weights, norm_weight, norm_bias;
};

void RunBackward(const TileUnit& unit, std::span<const float> weights, const NormParameters& norm,
                 double epsilon, const BatchStatistics& statistics,
                 const UnitActivations& activations, const UnitGradients& gradients);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TILES_TILE_UNIT_H_
