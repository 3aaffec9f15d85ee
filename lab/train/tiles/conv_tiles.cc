#include "train/tiles/conv_tiles.h"

#include "kernels/amx.h"
#include "support/check.h"
#include "train/tiles/tile_target.h"

namespace resmem::train {
namespace {

constexpr int64_t kTile = 16;   // rows of a tile; columns of a result
constexpr int64_t kDepth = 32;  // products that an instruction adds up
constexpr int64_t kBlockValues = kTile * kDepth;

// The left operands of a position, or of a pair of them: runs of 32 values from `offset` on.
struct Steps {
  std::vector<int64_t> offset;
  int64_t position_values = 0;  // from one to the next
};

Steps StepsOf(const ConvLayout& layout, int64_t blocks) {
  Steps steps;
  steps.position_values = (layout.pairs() ? 2 : layout.step) * layout.shape.inputs;
  for (int64_t tap = 0; tap < layout.shape.kernel; ++tap) {
    for (int64_t block = 0; block < blocks; ++block) {
      steps.offset.push_back(layout.tap_row[tap] * layout.shape.inputs + block * kDepth);
    }
  }
  return steps;
}

// 64 positions x 16 outputs.  Four sums at a time hide the latency of an instruction (52 cycles
// against 16 of throughput).
RESMEM_TILE_TARGET void Multiply64x16(const Steps& steps, const Bfloat16* left,
                                      const Bfloat16* right, float* result) {
  const auto stride = static_cast<size_t>(steps.position_values) * sizeof(Bfloat16);
  const int64_t tile = kTile * steps.position_values;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (const int64_t offset : steps.offset) {
    const Bfloat16* from = left + offset;
    _tile_loadd(4, right, 64);
    _tile_loadd(5, from, stride);
    _tile_dpbf16ps(0, 5, 4);
    _tile_loadd(6, from + tile, stride);
    _tile_dpbf16ps(1, 6, 4);
    _tile_loadd(7, from + 2 * tile, stride);
    _tile_dpbf16ps(2, 7, 4);
    _tile_loadd(5, from + 3 * tile, stride);
    _tile_dpbf16ps(3, 5, 4);
    right += kBlockValues;
  }
  _tile_stored(0, result, 64);
  _tile_stored(1, result + 256, 64);
  _tile_stored(2, result + 512, 64);
  _tile_stored(3, result + 768, 64);
}

// 32 positions x 32 outputs, or 32 pairs x 16 outputs of each side: half the loads.  The results
// are those of the first 16 outputs, then those of the others.
RESMEM_TILE_TARGET void Multiply32x32(const Steps& steps, const Bfloat16* left,
                                      const Bfloat16* right, const Bfloat16* right_next,
                                      float* result) {
  const auto stride = static_cast<size_t>(steps.position_values) * sizeof(Bfloat16);
  const int64_t tile = kTile * steps.position_values;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (const int64_t offset : steps.offset) {
    const Bfloat16* from = left + offset;
    _tile_loadd(4, right, 64);
    _tile_loadd(5, from, stride);
    _tile_dpbf16ps(0, 5, 4);
    _tile_loadd(6, from + tile, stride);
    _tile_dpbf16ps(1, 6, 4);
    _tile_loadd(7, right_next, 64);
    _tile_dpbf16ps(2, 5, 7);
    _tile_dpbf16ps(3, 6, 7);
    right += kBlockValues;
    right_next += kBlockValues;
  }
  _tile_stored(0, result, 64);
  _tile_stored(1, result + 256, 64);
  _tile_stored(2, result + 512, 64);
  _tile_stored(3, result + 768, 64);
}

// Where 16 outputs of a row of pixels go.
struct Destination {
  Bfloat16* outputs;
  int64_t channels;
  float* sums;  // of the 16 outputs; null: not wanted.  The squares' are `channels` further.
};

// Rounds results of 16 outputs to where they belong; every `stride`-th position has one.
template <bool kSums>
RESMEM_TILE_TARGET void Emit(const float* result, int64_t count, const int32_t* pixels,
                             int64_t stride, const Destination& to) {
  __m512 total = _mm512_setzero_ps(), squares = total;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t pixel = pixels[i * stride];
    if (pixel < 0) continue;
    const __m256i rounded = Round16(_mm512_loadu_ps(result + i * kTile));
    Store16(rounded, to.outputs + pixel * to.channels);
    if (!kSums) continue;
    const __m512 value = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(rounded), 16));
    total = _mm512_add_ps(total, value);
    squares = _mm512_fmadd_ps(value, value, squares);
  }
  if (!kSums) return;
  float* to_squares = to.sums + to.channels;
  _mm512_storeu_ps(to.sums, _mm512_add_ps(_mm512_loadu_ps(to.sums), total));
  _mm512_storeu_ps(to_squares, _mm512_add_ps(_mm512_loadu_ps(to_squares), squares));
}

}  // namespace

PackedWeights::PackedWeights(const ConvLayout& layout, std::span<const float> weights)
    : sides_(layout.pairs() ? 2 : 1),
      blocks_(((layout.shape.kernel + sides_ - 1) * layout.shape.inputs + kDepth - 1) / kDepth),
      steps_(layout.shape.kernel * blocks_),
      values_(layout.shape.outputs * sides_ * steps_ * kDepth) {
  const ConvShape& shape = layout.shape;
  RESMEM_DCHECK(shape.outputs % kTile == 0);
  RESMEM_DCHECK(std::ssize(weights) == shape.outputs * shape.taps() * shape.inputs);
  const int64_t run = shape.kernel * shape.inputs;
  for (int64_t output = 0; output < shape.outputs; ++output) {
    for (int64_t side = 0; side < sides_; ++side) {
      Bfloat16* tile = values_.data() + Offset(output, side) + output % kTile * 2;
      const float* from = weights.data() + output * shape.kernel * run;
      for (int64_t row = 0; row < shape.kernel; ++row, tile += blocks_ * kBlockValues) {
        for (int64_t i = side * shape.inputs; i < side * shape.inputs + run; ++i) {
          tile[i / 2 * kDepth + i % 2] = ToBfloat16(*from++);
        }
      }
    }
  }
}

ConvShape DataGradientShape(const ConvShape& shape) {
  if (shape.kernel == 1) {
    return {shape.out_height(), shape.out_width(), shape.outputs, shape.inputs, 1, 1};
  }
  return {shape.height, shape.width, shape.outputs, shape.inputs, shape.kernel, 1};
}

std::vector<float> DataGradientWeights(const ConvShape& shape, std::span<const float> weights) {
  std::vector<float> turned(weights.size());
  const int64_t taps = shape.taps();
  const float* from = weights.data();
  for (int64_t output = 0; output < shape.outputs; ++output) {
    for (int64_t tap = taps - 1; tap >= 0; --tap) {
      for (int64_t input = 0; input < shape.inputs; ++input) {
        turned[static_cast<size_t>((input * taps + tap) * shape.outputs + output)] = *from++;
      }
    }
  }
  return turned;
}

void Convolve(const ConvLayout& layout, const Bfloat16* scratch, const PackedWeights& weights,
              std::span<const int32_t> pixels, Bfloat16* outputs, float* sums) {
  const Steps steps = StepsOf(layout, weights.blocks());
  const int64_t channels = layout.shape.outputs, positions = std::ssize(pixels);
  RESMEM_DCHECK(positions % kPositionBlock == 0);
  const TileScope tiles;
  const auto emit = sums == nullptr ? Emit<false> : Emit<true>;
  alignas(64) float result[4 * kTile * kTile];
  for (int64_t output = 0; output < channels;) {
    const bool two = !layout.pairs() && channels - output >= 2 * kTile;
    const Destination to{outputs + output, channels, sums == nullptr ? nullptr : sums + output};
    const Destination next{to.outputs + kTile, channels,
                           sums == nullptr ? nullptr : to.sums + kTile};
    for (int64_t first = 0; first < positions; first += kPositionBlock) {
      const Bfloat16* left = scratch + first * layout.step * layout.shape.inputs;
      const int32_t* pixel = pixels.data() + first;
      if (layout.pairs()) {
        Multiply32x32(steps, left, weights.outputs16(output, 0), weights.outputs16(output, 1),
                      result);
        emit(result, 32, pixel, 2, to);
        emit(result + 512, 32, pixel + 1, 2, to);
      } else if (two) {
        for (int64_t half = 0; half < kPositionBlock; half += 32) {
          Multiply32x32(steps, left + half * steps.position_values, weights.outputs16(output),
                        weights.outputs16(output + kTile), result);
          emit(result, 32, pixel + half, 1, to);
          emit(result + 512, 32, pixel + half, 1, next);
        }
      } else {
        Multiply64x16(steps, left, weights.outputs16(output), result);
        emit(result, 64, pixel, 1, to);
      }
    }
    output += two ? 2 * kTile : kTile;
  }
}

}  // namespace resmem::train
