// Appends keys to a segment in their stored type.
#ifndef RESMEM_MEMORY_ROWS_KEY_ENCODER_H_
#define RESMEM_MEMORY_ROWS_KEY_ENCODER_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "format/container_writer.h"
#include "memory/rows/layout.h"

namespace resmem {

class KeyEncoder {
 public:
  // `center`: of int4 keys; empty: 0, so that the file does not depend on the cut into pieces.
  KeyEncoder(const MemoryDescription& description, const SegmentLayout& layout,
             std::vector<float> center = {})
      : type_(description.key_type),
        keys_(layout.keys),
        center_section_(layout.key_center),
        scales_(layout.key_scales),
        norms_(layout.key_norms),
        center_(std::move(center)) {}

  // Before anything is appended.
  void set_center(std::vector<float> center) { center_ = std::move(center); }

  // `keys` are transformed and fit the type; `norms`: one each where the layout has them.
  Status Append(MatrixView keys, std::span<const float> norms, ContainerWriter* writer);
  // The same without norms, which stay as they were.
  Status AppendKeys(MatrixView keys, ContainerWriter* writer);
  // The center, if nothing was appended that wrote it.
  Status WriteCenter(ContainerWriter* writer);

 private:
  Status AppendInt4(MatrixView keys, ContainerWriter* writer);

  KeyType type_;
  size_t keys_, center_section_, scales_, norms_;  // sections
  std::vector<float> center_;                      // int4
  bool center_written_ = false;
  std::vector<uint16_t> half_key_;
  std::vector<int8_t> int8_key_;
  std::vector<uint8_t> packed_;
};

// The key as it would be after it was stored as int4; `codes`: as many values of scratch.
void RoundInt4(std::span<const float> center, std::span<float> key, std::span<int8_t> codes);

// The mean of some rows, at least one: a center for int4 keys.
std::vector<float> MeanOf(MatrixView keys);

// Appends the rows of a matrix to a section of float32.
Status AppendMatrix(size_t section, MatrixView values, ContainerWriter* writer);

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_KEY_ENCODER_H_
