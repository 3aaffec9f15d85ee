// Appends keys to a segment in their stored type.
#ifndef RESMEM_MEMORY_ROWS_KEY_ENCODER_H_
#define RESMEM_MEMORY_ROWS_KEY_ENCODER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "format/container_writer.h"
#include "memory/rows/layout.h"

namespace resmem {

class KeyEncoder {
 public:
  KeyEncoder(const MemoryDescription& description, const SegmentLayout& layout)
      : type_(description.key_type),
        keys_(layout.keys),
        scales_(layout.key_scales),
        norms_(layout.key_norms) {}

  // `keys` are transformed and fit the type; `norms`: one each where the layout has them.
  Status Append(MatrixView keys, std::span<const float> norms, ContainerWriter* writer);

 private:
  KeyType type_;
  size_t keys_, scales_, norms_;  // sections
  std::vector<uint16_t> half_key_;
  std::vector<int8_t> int8_key_;
};

// Appends the rows of a matrix to a section of float32.
Status AppendMatrix(size_t section, MatrixView values, ContainerWriter* writer);

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_KEY_ENCODER_H_
