// Where the pixels of a group of images lie for a convolution on tiles.
//
// Images are copied into a scratch with a border of zeros and then seen as one long row: the
// output at position p reads `kernel` neighboring pixels at p * step + tap_row[0 .. kernel).  A
// border of one column serves the end of a row and the beginning of the next, one row serves two
// images; positions that fall on the border compute something that nobody reads.  So the inner
// loops run over positions alone and know no edges.
//
//   stride 1          pixel rows in order
//   3x3 of stride 2   even rows of all images first, odd rows in a second plane; step 2
//   1x1 of stride 2   only the pixels that count are copied (`pick` 2), then as stride 1
#ifndef RESMEM_LAB_TRAIN_TILES_CONV_LAYOUT_H_
#define RESMEM_LAB_TRAIN_TILES_CONV_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "kernels/bfloat16.h"
#include "support/aligned_array.h"

namespace resmem::train {

// A row of a tile is a line of the cache: one that straddles two lines is loaded twice.
using TileBuffer = AlignedArray<Bfloat16>;

// Channels-last images; padded so that stride 1 keeps the size.  Kernel 1 or 3, stride 1 or 2.
struct ConvShape {
  int64_t height = 0, width = 0, inputs = 0, outputs = 0, kernel = 3, stride = 1;

  int64_t out_height() const { return (height - 1) / stride + 1; }
  int64_t out_width() const { return (width - 1) / stride + 1; }
  int64_t in_values() const { return height * width * inputs; }  // of an image
  int64_t out_values() const { return out_height() * out_width() * outputs; }
  int64_t taps() const { return kernel * kernel; }
};

struct ConvLayout {
  ConvLayout(const ConvShape& shape, int64_t images);

  ConvShape shape;
  int64_t images = 0;     // of a whole group
  int64_t pick = 1;       // input rows and columns from one that is used to the next
  int64_t step = 1;       // input pixels from a position to the next
  int64_t pitch = 0;      // positions from an output row to the next
  int64_t positions = 0;  // of an image
  int64_t tap_row[3] = {0, 0, 0};
  int64_t pixels = 0;  // of the scratch, with what the last tiles read too much

  // Whether a row of a tile is better four pixels of 16 values that serve two outputs: then rows
  // are 64 bytes apart and begin at a line of the cache.
  bool pairs() const { return shape.kernel == 3 && step == 1 && shape.inputs == 16; }

  // Pixel of the scratch where row `y` of the picked ones begins.
  int64_t Row(int64_t image, int64_t y) const;
  // Copies dense images in.  Border and slack are the caller's zeros, and stay.
  void Place(const Bfloat16* from, int64_t count, Bfloat16* scratch) const;
};

// Pixels of dense images of `height` x `width` that positions belong to, -1 on borders; output
// (y, x) belongs to (y * spread, x * spread).  Its size is that of `count` images in whole blocks
// of kPositionBlock.
constexpr int64_t kPositionBlock = 64;
std::vector<int32_t> DensePixels(const ConvLayout& layout, int64_t count, int64_t height,
                                 int64_t width, int64_t spread);

// Images that are worked on together, by the shape alone: results must not depend on threads.
int64_t GroupSize(const ConvShape& shape);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TILES_CONV_LAYOUT_H_
