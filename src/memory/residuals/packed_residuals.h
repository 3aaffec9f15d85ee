// Residuals as the packed form keeps them: the largest entries of a row, as many as hold a share of
// its mass, each a class and a byte.  docs/memory_format.md, "Packed residuals".
#ifndef RESMEM_MEMORY_RESIDUALS_PACKED_RESIDUALS_H_
#define RESMEM_MEMORY_RESIDUALS_PACKED_RESIDUALS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

inline constexpr int64_t kMostPacked = 255;     // entries of a row
inline constexpr int64_t kRowsOfAStart = 64;    // one start of entries for so many rows
inline constexpr int64_t kNarrowClasses = 256;  // up to so many a class takes one byte
inline constexpr int64_t kMiddleClasses = 65536;

// Of an entry's class, and of the row's label.
constexpr int64_t PackedClassBytes(int64_t outputs) {
  return outputs <= kNarrowClasses ? 1 : outputs <= kMiddleClasses ? 2 : 4;
}

// By code: 2^(-(code mod 128) / 10), negative from 128 on.
const std::array<float, 256>& PackedValues();
// The code of the nearest value.
uint8_t PackValue(float value);

struct PackedRow {
  std::vector<uint32_t> classes;  // ascending
  std::vector<uint8_t> values;
  double kept = 0, dropped = 0;  // mass before it was rounded
};

// Chooses the entries of one row at a time: the largest until they hold description.packed_share of
// sum |r|, the smaller class first among equals, at most description.top; none where |r|_1 / 2 is
// below description.packed_least.
class ResidualPacker {
 public:
  explicit ResidualPacker(const MemoryDescription& description);
  void Pack(const float* residual, PackedRow* row);

 private:
  int64_t outputs_, most_;
  double share_, least_;
  std::vector<uint32_t> classes_, order_;
  std::vector<float> values_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUALS_PACKED_RESIDUALS_H_
