// Stores residuals in a segment: dense or the top of them, as float32 or float16.
#ifndef RESMEM_MEMORY_RESIDUALS_RESIDUAL_ENCODER_H_
#define RESMEM_MEMORY_RESIDUALS_RESIDUAL_ENCODER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "format/container_writer.h"
#include "memory/rows/layout.h"
#include "memory/rows/segment.h"
#include "resmem/residual_memory.h"

namespace resmem {

class ResidualEncoder {
 public:
  // The description's form is dense or sparse.
  ResidualEncoder(const MemoryDescription& description, const SegmentLayout& layout);

  // Appends `rows` rows.  residual(row, out) sets the `outputs` floats of row 0 .. rows - 1; it is
  // called from several threads.  Values must fit the stored type.
  Status Append(int64_t rows, const std::function<void(int64_t row, float* out)>& residual,
                ContainerWriter* writer);

  // Of all rows so far.
  Segment::Mass mass() const { return mass_; }

 private:
  // Rows that are encoded together: bounded memory, and enough work for every thread.
  struct Buffers {
    std::vector<float> values;     // rows x columns
    std::vector<uint16_t> halves;  // the same, where half_
    std::vector<uint32_t> classes;
    std::vector<uint16_t> narrow_classes;
    std::vector<float> dropped;
  };
  Status AppendPiece(int64_t begin, int64_t rows,
                     const std::function<void(int64_t row, float* out)>& residual,
                     ContainerWriter* writer);

  const SegmentLayout& layout_;
  int64_t outputs_, columns_;
  bool sparse_, half_;
  Buffers buffers_;
  std::vector<std::vector<float>> scratch_;  // one line a thread
  Segment::Mass mass_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUALS_RESIDUAL_ENCODER_H_
