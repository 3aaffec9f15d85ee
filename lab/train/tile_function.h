// The unit of tile_unit.h as an operation of libtorch with a gradient.
#ifndef RESMEM_LAB_TRAIN_TILE_FUNCTION_H_
#define RESMEM_LAB_TRAIN_TILE_FUNCTION_H_

#include <torch/torch.h>

#include "train/tiles/norm_pass.h"

namespace resmem::train {

struct TileNorm {
  torch::Tensor weight, bias, running_mean, running_variance;
  double momentum = 0, epsilon = 0;
};

// clip(norm(conv(x)) + shortcut) in training: normalizes by the batch and moves the running mean
// and variance as torch::batch_norm does.  `x` and `shortcut` (may be undefined) are channels-last
// and are rounded to bf16, in which the result comes.
torch::Tensor ConvNormOnTiles(const torch::Tensor& x, const torch::Tensor& weight,
                              const TileNorm& norm, const torch::Tensor& shortcut, int64_t stride,
                              const Clip& clip, int threads);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TILE_FUNCTION_H_
