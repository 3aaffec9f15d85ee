// Convolution on tiles: bf16 products, float32 sums.  Only where AmxActive().
#ifndef RESMEM_LAB_TRAIN_TILES_CONV_TILES_H_
#define RESMEM_LAB_TRAIN_TILES_CONV_TILES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "train/tiles/conv_layout.h"

namespace resmem::train {

// Weights as the right operands of the products: for each 16 outputs and each kernel row, the
// kernel * inputs values that meet neighboring pixels, in blocks of 32 filled up with zeros; a
// block is 16 pairs of values x 16 outputs x 2.  Where layout.pairs(), twice: for the left output
// of a pair, and for the right one, whose values meet pixels one further on.
class PackedWeights {
 public:
  // `weights` are outputs x kernel x kernel x inputs.
  PackedWeights(const ConvLayout& layout, std::span<const float> weights);

  int64_t blocks() const { return blocks_; }  // a kernel row's
  const Bfloat16* outputs16(int64_t first, int64_t of_pair = 0) const {
    return values_.data() + Offset(first, of_pair);
  }

 private:
  int64_t Offset(int64_t output, int64_t of_pair) const {
    return (output / 16 * sides_ + of_pair) * steps_ * 512;
  }

  int64_t sides_ = 1, blocks_ = 0, steps_ = 0;
  TileBuffer values_;
};

// The convolution whose result is the gradient of `shape`'s input, over a gradient of its output
// that has zeros between pixels where the stride is 2 (not for 1x1, which picks pixels).
ConvShape DataGradientShape(const ConvShape& shape);
// Its weights: flipped, inputs and outputs exchanged.
std::vector<float> DataGradientWeights(const ConvShape& shape, std::span<const float> weights);

// outputs[pixels[p]] = convolution at position p, rounded to bf16, for all p that belong to a
// pixel. `sums`, unless null, are 2 x outputs: the sum of the rounded values and of their squares.
void Convolve(const ConvLayout& layout, const Bfloat16* scratch, const PackedWeights& weights,
              std::span<const int32_t> pixels, Bfloat16* outputs, float* sums);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TILES_CONV_TILES_H_
