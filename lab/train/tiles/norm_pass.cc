#include "train/tiles/norm_pass.h"

#include "train/tiles/tile_target.h"

namespace resmem::train {
namespace {

constexpr int64_t kLanes = 16;

// The gradient before the activation: 0 where it was clipped.
RESMEM_TILE_TARGET inline __m512 Unclipped(const OutputGradient& y, int64_t at) {
  return _mm512_maskz_mov_ps(y.open[at / kLanes], Load16(y.gradient + at));
}

}  // namespace

RESMEM_TILE_TARGET void Normalize(const Bfloat16* x, const Bfloat16* shortcut, int64_t pixels,
                                  int64_t channels, const float* scale, const float* shift,
                                  const Clip& clip, Bfloat16* y, OpenBits* open) {
  const __m512 low = _mm512_set1_ps(clip.low), high = _mm512_set1_ps(clip.high);
  for (int64_t at = 0; at < pixels * channels;) {
    for (int64_t c = 0; c < channels; c += kLanes, at += kLanes) {
      __m512 value =
          _mm512_fmadd_ps(Load16(x + at), _mm512_loadu_ps(scale + c), _mm512_loadu_ps(shift + c));
      if (shortcut != nullptr) value = _mm512_add_ps(value, Load16(shortcut + at));
      Store16(Round16(_mm512_min_ps(_mm512_max_ps(value, low), high)), y + at);
      open[at / kLanes] =
          _mm512_cmp_ps_mask(value, low, _CMP_GT_OQ) & _mm512_cmp_ps_mask(value, high, _CMP_LT_OQ);
    }
  }
}

RESMEM_TILE_TARGET void AddGradientSums(const OutputGradient& y, const Bfloat16* x, int64_t pixels,
                                        int64_t channels, const float* mean, float* sums) {
  for (int64_t c = 0; c < channels; c += kLanes) {
    const __m512 center = _mm512_loadu_ps(mean + c);
    __m512 sum = _mm512_setzero_ps(), product = sum;
    for (int64_t at = c; at < pixels * channels; at += channels) {
      const __m512 g = Unclipped(y, at);
      sum = _mm512_add_ps(sum, g);
      product = _mm512_fmadd_ps(g, _mm512_sub_ps(Load16(x + at), center), product);
    }
    float* to = sums + c;
    _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sum));
    to += channels;
    _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), product));
  }
}

RESMEM_TILE_TARGET void BackPropagate(const OutputGradient& y, const Bfloat16* x, int64_t pixels,
                                      int64_t channels, const NormGradient& norm,
                                      Bfloat16* x_gradient, Bfloat16* shortcut_gradient) {
  for (int64_t at = 0; at < pixels * channels;) {
    for (int64_t c = 0; c < channels; c += kLanes, at += kLanes) {
      const __m512 g = Unclipped(y, at);
      const __m512 rest = _mm512_fmadd_ps(_mm512_loadu_ps(norm.x_slope + c), Load16(x + at),
                                          _mm512_loadu_ps(norm.shift + c));
      Store16(Round16(_mm512_fmadd_ps(_mm512_loadu_ps(norm.slope + c), g, rest)), x_gradient + at);
      if (shortcut_gradient != nullptr) Store16(Round16(g), shortcut_gradient + at);
    }
  }
}

}  // namespace resmem::train
