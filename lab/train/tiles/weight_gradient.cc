#include "train/tiles/weight_gradient.h"

#include <algorithm>

#include "kernels/amx.h"
#include "train/tiles/tile_target.h"

namespace resmem::train {
namespace {

constexpr int64_t kTile = 16, kDepth = 32, kTileValues = kTile * kTile;

// 16 rows of 16 numbers of 32 bits become columns.
RESMEM_TILE_TARGET void Transpose(__m512i (&rows)[16]) {
  __m512i pairs[16], fours[16];
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    fours[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
    fours[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
    fours[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    fours[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    const __m512i even_low = _mm512_shuffle_i32x4(fours[i], fours[4 + i], 0x88);
    const __m512i even_high = _mm512_shuffle_i32x4(fours[8 + i], fours[12 + i], 0x88);
    const __m512i odd_low = _mm512_shuffle_i32x4(fours[i], fours[4 + i], 0xdd);
    const __m512i odd_high = _mm512_shuffle_i32x4(fours[8 + i], fours[12 + i], 0xdd);
    rows[i] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    rows[4 + i] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    rows[8 + i] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
    rows[12 + i] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
  }
}

// Lane c: value c of the first row below, value c of the second row above.
RESMEM_TILE_TARGET inline __m512i Pair(__m256i first, __m256i second) {
  return _mm512_or_si512(_mm512_cvtepu16_epi32(first),
                         _mm512_slli_epi32(_mm512_cvtepu16_epi32(second), 16));
}

// 32 pixels x `channels` (up to 16) become 16 channels x 32 pixels.
RESMEM_TILE_TARGET void Turn(const Bfloat16* from, int64_t pixel_values, int64_t channels,
                             Bfloat16* to, int64_t row_values) {
  const auto mask = static_cast<__mmask16>((uint32_t{1} << channels) - 1);
  __m512i rows[16];
  for (int i = 0; i < 16; ++i) {
    rows[i] = Pair(_mm256_maskz_loadu_epi16(mask, from + 2 * i * pixel_values),
                   _mm256_maskz_loadu_epi16(mask, from + (2 * i + 1) * pixel_values));
  }
  Transpose(rows);
  for (int i = 0; i < 16; ++i) _mm512_storeu_si512(to + i * row_values, rows[i]);
}

RESMEM_TILE_TARGET void PairRows(const Bfloat16* first, const Bfloat16* second, int64_t count,
                                 Bfloat16* to) {
  for (int64_t i = 0; i < count; i += kTile) {
    const __m512i pair = Pair(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(first + i)),
                              _mm256_loadu_si256(reinterpret_cast<const __m256i*>(second + i)));
    _mm512_storeu_si512(to + 2 * i, pair);
  }
}

// The operands of a product over `steps` * 32 positions.
struct Operands {
  const Bfloat16* inputs;  // rows of positions
  int64_t input_row_bytes;
  const Bfloat16* gradients;  // rows of pairs
  int64_t gradient_row_bytes;
  int64_t steps;
};

// sums[i] += 16 inputs x 16 outputs, at inputs + offset[i].
RESMEM_TILE_TARGET void Accumulate3(const Operands& o, const int64_t (&offset)[3], float* sums) {
  _tile_loadd(0, sums, 64);
  _tile_loadd(1, sums + kTileValues, 64);
  _tile_loadd(2, sums + 2 * kTileValues, 64);
  const Bfloat16* inputs = o.inputs;
  const auto* gradients = reinterpret_cast<const char*>(o.gradients);
  for (int64_t step = 0; step < o.steps; ++step) {
    _tile_loadd(6, gradients, o.gradient_row_bytes);
    _tile_loadd(3, inputs + offset[0], o.input_row_bytes);
    _tile_dpbf16ps(0, 3, 6);
    _tile_loadd(4, inputs + offset[1], o.input_row_bytes);
    _tile_dpbf16ps(1, 4, 6);
    _tile_loadd(5, inputs + offset[2], o.input_row_bytes);
    _tile_dpbf16ps(2, 5, 6);
    inputs += kDepth;
    gradients += kTile * o.gradient_row_bytes;
  }
  _tile_stored(0, sums, 64);
  _tile_stored(1, sums + kTileValues, 64);
  _tile_stored(2, sums + 2 * kTileValues, 64);
}

RESMEM_TILE_TARGET void Accumulate1(const Operands& o, float* sums) {
  _tile_loadd(0, sums, 64);
  const Bfloat16* inputs = o.inputs;
  const auto* gradients = reinterpret_cast<const char*>(o.gradients);
  for (int64_t step = 0; step < o.steps; ++step) {
    _tile_loadd(6, gradients, o.gradient_row_bytes);
    _tile_loadd(3, inputs, o.input_row_bytes);
    _tile_dpbf16ps(0, 3, 6);
    inputs += kDepth;
    gradients += kTile * o.gradient_row_bytes;
  }
  _tile_stored(0, sums, 64);
}

}  // namespace

WeightGradient::WeightGradient(const ConvLayout& layout)
    : layout_(layout),
      input_blocks_((layout.shape.inputs + kTile - 1) / kTile),
      row_pixels_(layout.pixels / layout.step),
      inputs_(layout.step * input_blocks_ * kTile * row_pixels_),
      gradients_(row_pixels_ * layout.shape.outputs) {}

int64_t WeightGradient::values() const {
  return layout_.shape.taps() * input_blocks_ * kTile * layout_.shape.outputs;
}

void WeightGradient::TurnInputs(const Bfloat16* scratch) {
  const int64_t channels = layout_.shape.inputs, pixel_values = layout_.step * channels;
  for (int64_t plane = 0; plane < layout_.step; ++plane) {
    for (int64_t first = 0; first < channels; first += kTile) {
      Bfloat16* to = inputs_.data() + (plane * input_blocks_ * kTile + first) * row_pixels_;
      for (int64_t pixel = 0; pixel < row_pixels_; pixel += kDepth) {
        Turn(scratch + pixel * pixel_values + plane * channels + first, pixel_values,
             std::min(kTile, channels - first), to + pixel, row_pixels_);
      }
    }
  }
}

void WeightGradient::PairGradients(const Bfloat16* gradient, int64_t positions) {
  const int64_t channels = layout_.shape.outputs;
  for (int64_t i = 0; i < positions; i += 2) {
    const Bfloat16* from = gradient + i * channels;
    PairRows(from, from + channels, channels, gradients_.data() + i * channels);
  }
}

void WeightGradient::Add(const Bfloat16* scratch, const Bfloat16* gradient, int64_t count,
                         float* sums) {
  const ConvShape& shape = layout_.shape;
  const int64_t steps = (count * layout_.positions + kDepth - 1) / kDepth;
  TurnInputs(scratch);
  PairGradients(gradient, steps * kDepth);
  const TileScope tiles;
  Operands operands{nullptr, 2 * row_pixels_, nullptr, 4 * shape.outputs, steps};
  for (int64_t row = 0; row < shape.kernel; ++row) {
    int64_t offset[3] = {0, 0, 0};
    for (int64_t column = 0; column < shape.kernel; ++column) {
      const int64_t pixel = layout_.tap_row[row] + column;
      offset[column] =
          pixel % layout_.step * input_blocks_ * kTile * row_pixels_ + pixel / layout_.step;
    }
    for (int64_t input = 0; input < input_blocks_; ++input) {
      operands.inputs = inputs_.data() + input * kTile * row_pixels_;
      for (int64_t output = 0; output < shape.outputs; output += kTile) {
        operands.gradients = gradients_.data() + 2 * output;
        if (shape.kernel == 3) {
          Accumulate3(operands, offset, sums);
        } else {
          Accumulate1(operands, sums);
        }
        sums += shape.kernel * kTileValues;
      }
    }
  }
}

void WeightGradient::Unpack(std::span<const float> sums, std::span<float> weights) const {
  const ConvShape& shape = layout_.shape;
  const float* from = sums.data();
  for (int64_t row = 0; row < shape.kernel; ++row) {
    for (int64_t input = 0; input < input_blocks_ * kTile; input += kTile) {
      for (int64_t output = 0; output < shape.outputs; output += kTile) {
        for (int64_t column = 0; column < shape.kernel; ++column, from += kTileValues) {
          for (int64_t o = 0; o < kTile; ++o) {
            float* to = weights.data() +
                        ((output + o) * shape.taps() + row * shape.kernel + column) * shape.inputs;
            for (int64_t i = input; i < std::min(shape.inputs, input + kTile); ++i) {
              to[i] = from[(i - input) * kTile + o];
            }
          }
        }
      }
    }
  }
}

}  // namespace resmem::train
