// Items of any numeric type, at any stride, as float32 or int64.
#ifndef RESMEM_DATA_CONVERT_H_
#define RESMEM_DATA_CONVERT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "resmem/data/array.h"

namespace resmem {

// `count` items of a numeric type, `stride` bytes apart.
struct Items {
  ElementType type = ElementType::kFloat32;
  bool swapped = false;
  const std::byte* data = nullptr;
  int64_t stride = 0;
  int64_t count = 0;
};

// Write to out[0], out[out_stride], ...  Give the number of items converted: less than `count`
// where an item does not fit, namely a finite float64 beyond float32, or a number that is not a
// whole one inside int64.
int64_t ConvertToFloats(const Items& items, float* out, int64_t out_stride);
int64_t ConvertToIntegers(const Items& items, int64_t* out, int64_t out_stride);

// The shortest text that reads back as the same number.
std::string ItemText(ElementType type, bool swapped, const std::byte* item);

}  // namespace resmem

#endif  // RESMEM_DATA_CONVERT_H_
