// Stores residuals in a segment: dense or the top of them, as float32 or float16.
#ifndef RESMEM_MEMORY_RESIDUALS_RESIDUAL_ENCODER_H_
#define RESMEM_MEMORY_RESIDUALS_RESIDUAL_ENCODER_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "format/container_writer.h"
#include "memory/rows/layout.h"
#include "memory/rows/segment.h"
#include "resmem/residual_memory.h"

namespace resmem {

class ResidualEncoder {
 public:
  // The description's form is dense, sparse or packed.
  ResidualEncoder(const MemoryDescription& description, const SegmentLayout& layout);

  // Appends `rows` rows.  residual(row, out) sets the `outputs` floats of row 0 .. rows - 1; it is
  // called from several threads.  Values must fit the stored type.
  Status Append(int64_t rows, const std::function<void(int64_t row, float* out)>& residual,
                ContainerWriter* writer);
  // Packed only: `dropped(row)` is what the row had lost before.
  void set_dropped(std::function<double(int64_t row)> dropped) { lost_ = std::move(dropped); }
  // Packed only: rows of a packed segment as they are.
  Status CopyPacked(const Segment& segment, int64_t begin, int64_t rows, ContainerWriter* writer);

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
  Status AppendPacked(int64_t begin, int64_t rows,
                      const std::function<void(int64_t row, float* out)>& residual,
                      ContainerWriter* writer);
  // The start of a row's group, where it is the first of one.
  Status CountEntries(int64_t entries, ContainerWriter* writer);
  Status AppendPiece(int64_t begin, int64_t rows,
                     const std::function<void(int64_t row, float* out)>& residual,
                     ContainerWriter* writer);

  const SegmentLayout& layout_;
  MemoryDescription description_;
  int64_t outputs_, columns_;
  bool sparse_, packed_, half_;
  std::function<double(int64_t row)> lost_;
  int64_t packed_rows_ = 0, packed_entries_ = 0;  // so far
  Buffers buffers_;
  std::vector<std::vector<float>> scratch_;  // one line a thread
  Segment::Mass mass_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUALS_RESIDUAL_ENCODER_H_
