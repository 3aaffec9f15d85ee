// Images as cameras and files have them, into what networks take.
#ifndef RESMEM_ONNX_PIXELS_H_
#define RESMEM_ONNX_PIXELS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "resmem/models/onnx_model.h"

namespace resmem {

// (pixel / 255 - mean) / deviation, each step rounded to float32 as PyTorch does it, looked up:
// a channel has 256 possible values.
class PixelTable {
 public:
  explicit PixelTable(const ModelManifest& manifest);

  // `pixels`: count x height x width x channels; `out`: count x channels x height x width.
  void Normalize(const uint8_t* pixels, int64_t count, float* out) const;

 private:
  int64_t channels_, area_;
  std::vector<std::array<float, 256>> values_;  // by channel
};

}  // namespace resmem

#endif  // RESMEM_ONNX_PIXELS_H_
