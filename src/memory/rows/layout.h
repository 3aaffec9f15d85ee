// The sections of a segment: docs/memory_format.md, section 3.  Writer and reader both ask
// here, so that a table that differs from the description is found by comparison.
#ifndef RESMEM_MEMORY_ROWS_LAYOUT_H_
#define RESMEM_MEMORY_ROWS_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/format.h"
#include "resmem/residual_memory.h"

namespace resmem {

struct SegmentLayout {
  static constexpr size_t kAbsent = SIZE_MAX;

  // source_bytes: the size of all source texts together, or ContainerWriter::kAsAppended.
  SegmentLayout(const MemoryDescription& description, int64_t rows, int64_t source_bytes);

  std::vector<SectionShape> sections;
  // Positions in `sections`.
  size_t keys = kAbsent, key_scales = kAbsent, key_norms = kAbsent, ids = kAbsent, labels = kAbsent,
         targets = kAbsent, logits = kAbsent, residuals = kAbsent, top_classes = kAbsent,
         top_values = kAbsent, dropped = kAbsent, source_offsets = kAbsent, source_bytes = kAbsent;
};

inline constexpr char kSourceBytesName[] = "source_bytes";

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_LAYOUT_H_
