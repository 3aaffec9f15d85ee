// The passes of a batch norm with shortcut and activation over bf16 pixels.  Channels are a
// multiple of 16; only where AmxActive().
#ifndef RESMEM_LAB_TRAIN_TILES_NORM_PASS_H_
#define RESMEM_LAB_TRAIN_TILES_NORM_PASS_H_

#include <cstdint>
#include <limits>

#include "kernels/bfloat16.h"

namespace resmem::train {

// An activation that clips: from `low` to `high`.
struct Clip {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

// Which of 16 channels were not clipped, a bit each: what a gradient needs to know of a result, in
// a sixteenth of its bytes.
using OpenBits = uint16_t;

// y = clip(x * scale + shift + shortcut), `shortcut` may be null; scale and shift of a channel.
void Normalize(const Bfloat16* x, const Bfloat16* shortcut, int64_t pixels, int64_t channels,
               const float* scale, const float* shift, const Clip& clip, Bfloat16* y,
               OpenBits* open);

// The gradient of y, and where it goes on.
struct OutputGradient {
  const Bfloat16* gradient;
  const OpenBits* open;
};

// sums (2 x channels) += g and g * (x - mean), where g is the gradient before the activation.
void AddGradientSums(const OutputGradient& y, const Bfloat16* x, int64_t pixels, int64_t channels,
                     const float* mean, float* sums);

// The gradient of a norm's input: slope * g + x_slope * x + shift, of each channel.
struct NormGradient {
  const float* slope;
  const float* x_slope;
  const float* shift;
};

// Writes it to `x_gradient` and g, unless null, to `shortcut_gradient`.
void BackPropagate(const OutputGradient& y, const Bfloat16* x, int64_t pixels, int64_t channels,
                   const NormGradient& norm, Bfloat16* x_gradient, Bfloat16* shortcut_gradient);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TILES_NORM_PASS_H_
